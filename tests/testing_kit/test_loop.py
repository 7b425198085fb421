import asyncio
import threading
import time

import pytest

from nucleo.testing import DeadlockError, JumpingLoop, run


def test_an_hour_of_sleep_costs_no_time_and_moves_the_clock_by_an_hour():
    async def sleep() -> float:
        before = time.monotonic()
        await asyncio.sleep(3600)
        return time.monotonic() - before

    real = time.perf_counter()
    assert run(sleep()) == pytest.approx(3600)
    assert time.perf_counter() - real < 60


def test_time_monotonic_is_the_clock_of_the_loop_and_is_given_back():
    before = time.monotonic

    async def look() -> bool:
        return time.monotonic() == asyncio.get_running_loop().time()

    assert run(look())
    assert time.monotonic is before


def test_time_monotonic_is_given_back_after_a_failure():
    before = time.monotonic

    async def fail() -> None:
        raise LookupError("planted")

    with pytest.raises(LookupError, match="planted"):
        run(fail())
    assert time.monotonic is before


def test_stamps_taken_before_the_run_lie_in_its_past():
    stamp = time.monotonic()

    async def look() -> float:
        return time.monotonic()

    assert run(look()) >= stamp


def test_timers_fire_in_the_order_of_their_times():
    async def sleeps() -> list[str]:
        order: list[str] = []

        async def note(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            order.append(name)

        await asyncio.gather(note("late", 500), note("early", 0.001), note("middle", 60))
        return order

    assert run(sleeps()) == ["early", "middle", "late"]


def test_a_deadlock_is_reported_with_the_name_and_the_line_of_who_waits():
    async def wait_for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        await asyncio.create_task(wait_for_ever(), name="the one that waits")

    with pytest.raises(DeadlockError) as caught:
        run(main())
    assert any("the one that waits" in line and "in wait_for_ever" in line for line in caught.value.waiting)
    assert "wait for ever" in str(caught.value)


def test_the_clock_does_not_jump_over_a_call_in_a_thread():
    released = threading.Event()

    def work() -> str:
        released.wait(30)
        return "done"

    async def main() -> str:
        asyncio.get_running_loop().call_later(0.05, released.set)
        async with asyncio.timeout(20):
            return await asyncio.to_thread(work)

    assert run(main()) == "done"


def test_a_timeout_still_fires_while_a_thread_is_stuck():
    released = threading.Event()

    async def main() -> float:
        began = time.monotonic()
        call = asyncio.get_running_loop().run_in_executor(None, released.wait, 30)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.shield(call)
        passed = time.monotonic() - began
        released.set()
        await call
        return passed

    assert run(main()) == pytest.approx(0.05, abs=1.0)


def test_a_threadsafe_call_wakes_the_loop():
    async def main() -> str:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()

        def call_back() -> None:
            loop.call_soon_threadsafe(future.set_result, "called")

        await asyncio.to_thread(call_back)
        return await future

    assert run(main()) == "called"


def test_a_socket_that_answers_is_waited_for_and_not_jumped_over():
    async def main() -> bytes:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            writer.write(b"hello\n")
            async with asyncio.timeout(30):
                answer = await reader.readline()
            writer.close()
            await writer.wait_closed()
        return answer

    assert run(main()) == b"hello\n"


def test_a_socket_that_stays_quiet_is_jumped_over_after_the_patience():
    async def main() -> float:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        async with server:
            began = time.monotonic()
            await asyncio.sleep(600)
            return time.monotonic() - began

    assert run(main(), patience=0.01) == pytest.approx(600)


def test_the_loop_is_closed_after_the_run():
    async def main() -> JumpingLoop:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, JumpingLoop)
        return loop

    assert run(main()).is_closed()
