import asyncio
from contextlib import asynccontextmanager

import pytest

from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    JobCancelledException,
    JobTimeoutException,
    RateLimitRetryException,
    SystemException,
)
from nucleo.jobs import Dispatcher, Job, JobState, Requirements
from nucleo.testing import run


class Needs(Job[object]):
    def __init__(self, function, **openers):
        self.function = function
        self.openers = openers

    def requirements(self):
        return Requirements(resources=self.openers)

    async def run(self, resources, context):
        return await self.function(resources, context)


def _tracked(log, name, *, fail_open=False, fail_close=False, hang_close=False):
    @asynccontextmanager
    async def manager():
        if fail_open:
            raise ExternalServiceException("database", "refused")
        log.append(f"open {name}")
        try:
            yield name
        finally:
            log.append(f"close {name}")
            if fail_close:
                raise ConnectionError("commit failed")
            if hang_close:
                await asyncio.sleep(100_000)

    return manager


def test_resources_are_opened_in_order_and_closed_in_reverse_before_the_result():
    log = []

    async def use(resources, context):
        log.append("body")
        return resources["a"] + resources.get("b", str)

    async def main():
        async with Dispatcher() as dispatcher:
            result = await dispatcher.submit(Needs(use, a=_tracked(log, "a"), b=_tracked(log, "b")))
            log.append("result")
            return result

    assert run(main()) == "ab"
    assert log == ["open a", "open b", "body", "close b", "close a", "result"]


def test_a_resource_that_was_not_asked_for_or_is_of_another_type_is_named():
    async def use(resources, context):
        with pytest.raises(KeyError, match="database"):
            resources["database"]
        with pytest.raises(TypeError, match="not a int"):
            resources.get("a", int)

    async def main():
        async with Dispatcher() as dispatcher:
            await dispatcher.submit(Needs(use, a=_tracked([], "a")))

    run(main())


def test_a_failed_opening_closes_what_was_open_and_never_runs_the_body():
    log = []

    async def use(resources, context):
        log.append("body")

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(ExternalServiceException):
                await dispatcher.submit(Needs(use, a=_tracked(log, "a"), b=_tracked(log, "b", fail_open=True)))

    run(main())
    assert log == ["open a", "close a"]


def test_a_resource_sees_how_the_body_ended():
    seen = []

    class Transaction:
        async def __aenter__(self):
            return self

        async def __aexit__(self, kind, error, trace):
            seen.append(kind)

    async def fail(resources, context):
        raise InvalidInputException("a", 1, "wrong")

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(Needs(fail, a=Transaction))

    run(main())
    assert seen == [InvalidInputException]


def test_a_close_that_fails_fails_the_job_but_never_hides_the_bodys_failure():
    log = []

    async def fine(resources, context):
        return 7

    async def fail(resources, context):
        raise InvalidInputException("a", 1, "wrong")

    async def main():
        async with Dispatcher() as dispatcher:
            openers = {"a": _tracked(log, "a"), "b": _tracked(log, "b", fail_close=True)}
            with pytest.raises(SystemException):
                await dispatcher.submit(Needs(fine, **openers))
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(Needs(fail, **openers))

    run(main())
    assert log.count("close a") == log.count("close b") == 2


def test_a_close_that_hangs_is_given_up_after_the_grace_and_the_others_are_closed():
    log = []

    async def fine(resources, context):
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(
                Needs(fine, a=_tracked(log, "a"), b=_tracked(log, "b", hang_close=True)), timeout=10
            )
            began = asyncio.get_running_loop().time()
            with pytest.raises(SystemException):
                await handle
            assert asyncio.get_running_loop().time() - began == pytest.approx(1)

    run(main())
    assert log[-1] == "close a"


def test_each_run_has_fresh_resources_and_a_pause_holds_none():
    log = []

    async def call(resources, context):
        if context.attempt == 1:
            raise RateLimitRetryException("requests")
        return resources["a"]

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(Needs(call, a=_tracked(log, "a")))
            await asyncio.sleep(1)
            assert handle.state is JobState.WAITING
            assert log == ["open a", "close a"]
            assert await handle == "a"

    run(main())
    assert log == ["open a", "close a"] * 2


def test_the_budget_closes_the_connection_under_the_body_so_that_its_wait_fails_cleanly():
    class Connection:
        def __init__(self):
            self.lost = asyncio.get_running_loop().create_future()

        async def read(self):
            await self.lost

        async def aclose(self):
            if not self.lost.done():
                self.lost.set_exception(ConnectionError("closed"))

    @asynccontextmanager
    async def connect():
        yield Connection()

    async def use(resources, context):
        await resources["connection"].read()

    async def main():
        async with Dispatcher() as dispatcher:
            began = asyncio.get_running_loop().time()
            with pytest.raises(JobTimeoutException) as caught:
                await dispatcher.submit(Needs(use, connection=connect), timeout=10)
            assert isinstance(caught.value.__cause__, ConnectionError)
            return asyncio.get_running_loop().time() - began

    assert run(main()) == pytest.approx(10)


def test_what_the_body_opened_itself_can_be_named_for_closing(others):
    async def use(resources, context):
        gone = asyncio.get_running_loop().create_future()

        async def close():
            gone.set_exception(ConnectionError("closed"))

        resources.on_timeout(close)
        await gone

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(Needs(use), timeout=10)
        assert not others()

    run(main())


def test_a_closer_that_hangs_does_not_keep_the_job(others):
    async def use(resources, context):
        async def close():
            await asyncio.sleep(100_000)

        resources.on_timeout(close)
        await asyncio.sleep(100_000)

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(Needs(use), timeout=10)
        assert not others()

    run(main())


def test_an_opening_that_hangs_ends_with_the_budget():
    @asynccontextmanager
    async def connect():
        await asyncio.sleep(100_000)
        yield

    async def use(resources, context):
        return 1

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(Needs(use, a=connect), timeout=10)

    run(main())


def test_a_body_whose_resources_open_only_in_its_grace_never_begins():
    log = []

    @asynccontextmanager
    async def slow():
        await asyncio.sleep(10.5)
        try:
            yield
        finally:
            log.append("closed")

    async def use(resources, context):
        log.append("body")

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(Needs(use, a=slow), timeout=10)

    run(main())
    assert log == ["closed"]


def test_a_cancel_while_resources_close_lets_them_close():
    log = []

    @asynccontextmanager
    async def slow():
        try:
            yield
        finally:
            await asyncio.sleep(0.4)
            log.append("closed")

    async def fine(resources, context):
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(Needs(fine, a=slow), timeout=10)
            await asyncio.sleep(0.1)
            handle.cancel("now")
            with pytest.raises(JobCancelledException):
                await handle

    run(main())
    assert log == ["closed"]


def test_requirements_that_raise_fail_the_job():
    class Broken(Job[int]):
        def requirements(self):
            raise InvalidInputException("a", 1, "wrong")

        async def run(self, resources, context):
            return 1

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(Broken())
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(Broken(), timeout=None)

    run(main())
