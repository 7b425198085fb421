"""From page to page: where the next one is, that it is on the same server, and that it ends."""

from typing import cast, final

import httpx2

from nucleo.errors import ExternalServiceException
from nucleo.errors.translate.faults import ASTRAY
from nucleo.http.exchange import Answer
from nucleo.http.redirects import same_origin
from nucleo.http.service_client import Options, Path, ServiceClient


@final
class Pages:
    """The walk through the pages of one call.

    Args:
        client: Whose `next_page` says where to go.
        path: The first page.

    Attributes:
        address: The page to get now; None after the last one.
    """

    def __init__(self, client: ServiceClient, path: Path) -> None:
        self._client = client
        self._seen: set[str] = set()
        self.address: Path | None = path

    def options(self, given: Options) -> Options:
        """What a page is called with: the address of a later page has all its parameters already."""
        options = given.copy()
        if self._seen:
            options.pop("params", None)
        return options

    def turn(self, answer: Answer, page: object) -> None:
        """Find the next page.

        Raises:
            ExternalServiceException: It is on another server, or there are more than the client takes.
        """
        self._seen.add(str(answer.url))
        following = self._client.next_page(answer.headers, page)
        if following is None:
            self.address = None
            return
        try:
            url = answer.url.join(following)
        except (httpx2.InvalidURL, ValueError) as error:
            raise self._refusal(ASTRAY.words) from error
        if not same_origin(answer.url, url):
            raise self._refusal("its next page is on another server")
        # A page that names itself as the next one is the last.
        self.address = None if str(url) in self._seen else cast("Path", str(url))
        if self.address is not None and len(self._seen) >= self._client.max_pages:
            raise self._refusal(f"it has more than {self._client.max_pages} pages: ask for less")

    def _refusal(self, words: str) -> ExternalServiceException:
        return ExternalServiceException(self._client.service_name, words)
