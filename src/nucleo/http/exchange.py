"""One call from its first request to its answer, without a byte of I/O.

Both clients drive it: they send `request`, tell that the answer `began`, collect its body in what `expect` gives, tell
when it `broke_off`, and `take` the answer, until one is final and they `finish`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, final

import httpx2

from nucleo.errors import ExternalServiceException, Http404Exception, LLMReadableException, UnauthorizedException
from nucleo.errors.http import http_failure, inspect_response
from nucleo.errors.http.body import READ_LIMIT, read_body
from nucleo.errors.http.detail import path_of
from nucleo.errors.http.headers import lower_headers
from nucleo.errors.masking import mask
from nucleo.errors.translate import faults
from nucleo.errors.translate.faults import Fault, no_answer
from nucleo.errors.translate.tables.httpx import client_fault
from nucleo.http.body import AnswerTooLargeError, BrokenPackingError, Collector
from nucleo.http.credentials import pairs_of, secrets_of
from nucleo.http.reading import Reader, T, UnreadableAnswerError
from nucleo.http.redirects import RedirectRefusedError, is_redirect, redirected
from nucleo.http.timeouts import LiveTimeouts

_GOOD: Final = range(200, 300)
_NOT_FOUND: Final = 404
_MEGABYTE: Final = 1_000_000

_OUT_OF_TIME: Final = {
    "pool": faults.POOL,
    "connect": faults.SLOW_TO_CONNECT,
    "write": faults.SLOW_TO_SEND,
    "read": faults.SILENT,
}
_BROKEN_PACKING: Final = Fault(words="the answer could not be read: its compression is broken", sent=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, read.

    Attributes:
        status: The status.
        headers: By lower-case name.
        body: The body, decompressed; of an error answer the first 64 KiB.
        url: The address that answered.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: httpx2.URL


class Hooks(Protocol):
    """What the exchange asks the client."""

    service_name: str
    max_body_bytes: int

    def on_response(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Hear of every answer."""
        ...

    def classify(self, endpoint: str, status: int, headers: Mapping[str, str], body: bytes) -> Exception | None:
        """Give an answer a meaning of the service's own."""
        ...

    def secrets(self) -> Iterable[str]:
        """Name further secrets."""
        ...


@final
class Exchange:
    """One call.

    Args:
        hooks: The client.
        request: The first request, before authentication.
        timeouts: Its timeouts.
        operation: What the call is for.

    Attributes:
        request: The request to send now.
        timeouts: What the transport and the call as a whole may use.
    """

    def __init__(self, hooks: Hooks, request: httpx2.Request, *, timeouts: LiveTimeouts, operation: str) -> None:
        self.request = request
        self.timeouts = timeouts
        request.extensions["timeout"] = timeouts
        self._hooks = hooks
        self._operation = operation
        self._method = request.method
        self._before = pairs_of(request)
        self._hops = 0
        self._accepted = False
        self._secrets: tuple[str, ...] = ()
        self._response: httpx2.Response | None = None
        self._collector: Collector | None = None

    @property
    def max_body_bytes(self) -> int:
        """What the client is ready to hold at once."""
        return self._hooks.max_body_bytes

    def authenticated(self) -> None:
        """Take note of the credentials that `decorate` has put into the request."""
        self._secrets = (*secrets_of(self.request, before=self._before), *self._hooks.secrets())

    def began(self, response: httpx2.Response) -> bool:
        """Take the head of an answer, and say whether its status is one of success."""
        self._response = response
        self._collector = None
        return response.status_code in _GOOD

    def expect(self) -> Collector:
        """Give what takes the body of the answer that began.

        Raises:
            AnswerTooLargeError: A good answer announces more than the client takes.
            BrokenPackingError: It is packed in a way that was not asked for.
        """
        response, limit = self._begun(), self.max_body_bytes
        good = response.status_code in _GOOD
        if self.request.method == "HEAD":
            # Its headers speak of a body that does not come.
            return self._collected_in(Collector(0, encoding="", complain=False))
        announced = response.headers.get("content-length", "")
        if good and announced.isascii() and announced.isdigit() and int(announced[:18]) > limit:
            raise AnswerTooLargeError
        # Nothing reads more than that of an error, and what is not read need not be waited for.
        most = limit if good else min(limit, READ_LIMIT)
        encoding = response.headers.get("content-encoding", "")
        return self._collected_in(Collector(most, encoding=encoding, complain=good))

    def broke_off(self, error: Exception) -> None:
        """Take what was raised instead of an answer or in its body.

        Returns when the status that had come tells enough: an error stays that error without the rest of its body.

        Raises:
            LLMReadableException: No answer came.
            Exception: The very error, when it is no matter of the network.
        """
        status = None if self._response is None else self._response.status_code
        if status is not None and status not in _GOOD and self._fault(error) is not None:
            return
        fault = self._fault(error)
        if fault is None:
            raise error
        raise self._without_answer(fault if status is None else _after(status, fault)) from error

    def broken_stream(self, error: Exception, answer: Answer) -> Exception:
        """Say what it means that a body broke off while the caller was reading it."""
        fault = self._fault(error)
        return error if fault is None else self._without_answer(_after(answer.status, fault))

    def take(self) -> Answer | None:
        """Take the answer as far as it has been collected.

        Returns:
            The answer, or None when `request` is now another one, to be sent.

        Raises:
            LLMReadableException: The answer redirects to where nothing is followed.
        """
        response, self._response = self._begun(), None
        answer = Answer(
            status=response.status_code,
            headers=lower_headers(response.headers.multi_items()),
            body=b"" if self._collector is None else self._collector.body(),
            url=self.request.url,
        )
        self._hooks.on_response(answer.status, answer.headers, answer.body)
        location = response.headers.get("location")
        if location is None or not is_redirect(answer.status, location):
            return answer
        self._redirect(answer, location)
        return None

    def finish(self, answer: Answer, reader: Reader[T], *, empty_on_404: bool = False) -> T:
        """Give the final answer its meaning.

        Raises:
            Exception: What `classify` gave, else the member of the set that the answer means.
        """
        failure = self._failure_of(answer, any_form=reader.any_form)
        if isinstance(failure, Http404Exception) and empty_on_404 and answer.status == _NOT_FOUND:
            return reader.empty()
        if failure is not None:
            raise failure
        try:
            return reader.read(answer.body, answer.headers)
        except UnreadableAnswerError as error:
            fault = Fault(words=f"the answer could not be read: {error.reason}", sent=False)
            raise self._without_answer(_after(answer.status, fault)) from error

    def check(self, answer: Answer) -> None:
        """Raise what an answer means when it is a failure; a good one is about to be read as a stream."""
        failure = self._failure_of(answer, any_form=True)
        if failure is not None:
            raise failure

    def _failure_of(self, answer: Answer, *, any_form: bool) -> Exception | None:
        endpoint = self._path(answer.url)
        own = self._hooks.classify(endpoint, answer.status, answer.headers, answer.body)
        if own is not None:
            return own
        if answer.status not in _GOOD:
            return self._mapped(answer)
        if any_form and read_body(answer.body, answer.headers).kind not in {"json", "xml"}:
            # Where text or bytes were asked for, a web page or a picture is what was due.
            return None
        return inspect_response(
            self._hooks.service_name,
            self._address(answer.url),
            answer.status,
            answer.body,
            headers=answer.headers,
            operation=self._operation,
            secrets=self._secrets,
            method=self._effective_method,
        )

    def _mapped(self, answer: Answer) -> LLMReadableException:
        return http_failure(
            self._hooks.service_name,
            self._address(answer.url),
            answer.status,
            answer.body,
            headers=answer.headers,
            operation=self._operation,
            secrets=self._secrets,
            method=self._effective_method,
        )

    def _redirect(self, answer: Answer, location: str) -> None:
        failure = self._mapped(answer)
        if isinstance(failure, UnauthorizedException):
            # The way to a log-in page: what is there is no answer to this call.
            raise failure
        before = self.request
        try:
            self.request = redirected(before, answer.status, location, hops=self._hops, secrets=self._secrets)
        except RedirectRefusedError as error:
            raise self._without_answer(error.fault) from error
        self._hops += 1
        # A write that was answered with "look over there" has been taken; what is lost from here on is its result.
        self._accepted = self._accepted or self.request.method != before.method

    def _fault(self, error: Exception) -> Fault | None:
        if isinstance(error, AnswerTooLargeError):
            limit = f"{self.max_body_bytes / _MEGABYTE:g} MB"
            return Fault(words=f"the answer is larger than {limit} and was not read", sent=False)
        if isinstance(error, BrokenPackingError):
            return _BROKEN_PACKING
        if isinstance(error, TimeoutError):
            return _OUT_OF_TIME.get(self.timeouts.phase or "connect", faults.SILENT)
        return client_fault(error)

    def _without_answer(self, fault: Fault) -> ExternalServiceException:
        words = f"{fault.words} (at {self._path(self.request.url)})"
        told = replace(fault, words=words, sent=fault.sent or self._accepted)
        return no_answer(told, service=self._hooks.service_name, method=self._effective_method)

    @property
    def _effective_method(self) -> str:
        if self._operation != "write":
            # A search by POST changes nothing: nothing is unknown of it when its answer is lost.
            return "GET"
        return self._method if self._accepted else self.request.method

    def _address(self, url: httpx2.URL) -> str:
        # The host is for the table of quirks; what reads a failure gets the path of it.
        path = url.raw_path.decode("ascii").partition("?")[0]
        return f"{url.scheme}://{url.host}{mask(path, secrets=self._secrets)}"

    def _path(self, url: httpx2.URL) -> str:
        return path_of(self._address(url))

    def _collected_in(self, collector: Collector) -> Collector:
        self._collector = collector
        return collector

    def _begun(self) -> httpx2.Response:
        if self._response is None:
            raise RuntimeError("no answer has begun")
        return self._response


def _after(status: int, fault: Fault) -> Fault:
    # Whoever wrote must hear that the write was taken, although its answer is lost.
    return Fault(words=f"it answered HTTP {status}, but {fault.words}", sent=False)
