"""Silence is reported as the service's, and before the job's own time is up."""

import asyncio
import contextvars
import time

import pytest

from nucleo.errors import ExternalServiceException
from nucleo.http import ApiClient, SyncApiClient, Timeouts
from nucleo.http.timeouts import LiveTimeouts
from nucleo.limits.work import CurrentWork, current_work
from nucleo.testing import Answer, FailingService, run


class Atlas(ApiClient):
    service_name = "Atlas"


def seconds_until_silence(service, *, remaining, path="/hang", method="get"):
    """How long, on the jumping clock, the client waits; and the failure."""

    async def scenario():
        loop = asyncio.get_running_loop()
        if remaining is not None:
            current_work.set(CurrentWork(job_id="j", name="n", deadline=loop.time() + remaining, now=loop.time))
        began = loop.time()
        with pytest.raises(ExternalServiceException) as caught:
            await getattr(Atlas(base_url=service.url), method)(path)
        return loop.time() - began, caught.value

    return run(scenario(), patience=0.3)


@pytest.fixture
def service():
    with FailingService() as running:
        running.on("*", "/hang", Answer(fault="hang"))
        running.on("*", "/part", Answer(200, body=b"[1", fault="hang_in_body"))
        running.on("*", "/late", Answer(200, delay=3_600.0))
        yield running


@pytest.mark.parametrize("path", ["/hang", "/late", "/part"])
def test_the_service_has_20_seconds_between_two_signs_of_life(service, path):
    waited, failure = seconds_until_silence(service, remaining=None, path=path)
    assert 20 <= waited < 22
    assert "no answer within the time limit" in failure.llm_message


@pytest.mark.parametrize("path", ["/hang", "/late", "/part"])
def test_it_has_90_percent_of_what_the_job_has_left(service, path):
    waited, failure = seconds_until_silence(service, remaining=10.0, path=path)
    assert 8.5 <= waited < 10
    assert type(failure) is ExternalServiceException


def test_a_job_with_much_time_left_changes_nothing(service):
    waited, _ = seconds_until_silence(service, remaining=10_000.0)
    assert 20 <= waited < 22


def test_a_job_without_time_gets_no_answer_at_once(service):
    waited, failure = seconds_until_silence(service, remaining=0.0)
    assert waited < 1
    assert failure.http is None


def test_a_write_cut_by_the_jobs_time_may_have_happened(service):
    _, failure = seconds_until_silence(service, remaining=10.0, method="post")
    assert failure.outcome_unknown is True


def test_a_body_in_drops_does_not_outlive_the_job(kit):
    # Each drop well within the read timeout, all of them more than the job has time for.
    drops = Answer(200, body=(*[b" "] * 60, b"1"), pace=0.03)

    def in_job(remaining):
        current_work.set(CurrentWork(job_id="j", name="n", deadline=time.monotonic() + remaining))
        return kit.call(client, "get", "/x")

    with FailingService() as service:
        service.on("GET", "/x", drops)
        client = kit.client(service.url)
        assert contextvars.copy_context().run(in_job, 60.0) == 1
        with pytest.raises(ExternalServiceException, match="no answer within the time limit"):
            contextvars.copy_context().run(in_job, 0.4)


def test_each_phase_gets_its_share_of_what_is_left_when_it_begins():
    clock = [100.0]
    work = CurrentWork(job_id="j", name="n", deadline=110.0, now=lambda: clock[0])
    live = LiveTimeouts(Timeouts(connect=5, read=20, write=20, pool=10), work)
    assert live.get("pool") == pytest.approx(9.0)
    assert live.get("connect") == 5
    clock[0] = 108.0
    assert live["read"] == pytest.approx(1.8)
    assert live.phase == "read"
    clock[0] = 111.0
    assert 0 < live["read"] < 0.01
    with pytest.raises(TimeoutError):
        live.check()
    assert dict(LiveTimeouts(Timeouts(), None)) == {"connect": 5.0, "read": 20.0, "write": 20.0, "pool": 10.0}


def test_sync_code_is_cut_too(service):
    class Client(SyncApiClient):
        service_name = "Atlas"

    token = current_work.set(CurrentWork(job_id="j", name="n", deadline=time.monotonic() + 0.2))
    try:
        with Client(base_url=service.url) as client, pytest.raises(ExternalServiceException, match="no answer within"):
            client.get("/hang")
    finally:
        current_work.reset(token)


def test_a_cancelled_call_is_cancelled_and_lets_go_of_its_connection(service):
    async def scenario():
        async with Atlas(base_url=service.url) as client:
            task = asyncio.create_task(client.get("/hang"))
            while not service.requests:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            service.on("GET", "/ok", Answer(body="1"))
            return await client.get("/ok")

    assert asyncio.run(scenario()) == 1


def test_the_callers_own_timeout_stays_the_callers(service):
    async def scenario():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await Atlas(base_url=service.url).get("/hang")

    run(scenario(), patience=0.3)
