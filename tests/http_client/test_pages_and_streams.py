"""Page after page, and a body read as it comes, in both clients."""

import asyncio

import pytest

from nucleo.errors import ExternalServiceException, Http404Exception, Http503Exception
from nucleo.http import ApiClient, SyncApiClient, Timeouts
from nucleo.testing import Answer


class Atlas(ApiClient):
    service_name = "Atlas"
    timeouts = Timeouts(read=0.3)
    max_pages = 3
    max_body_bytes = 1_000


class SyncAtlas(SyncApiClient):
    service_name = "Atlas"
    timeouts = Timeouts(read=0.3)
    max_pages = 3
    max_body_bytes = 1_000


@pytest.fixture(params=["async", "sync"])
def walk(request):
    """Collect what a client's `pages` or `stream` gives."""

    def by(client_members, url, how, /, *arguments, read=None, **keywords):
        members = {"service_name": "Atlas", **client_members}
        if request.param == "sync":
            client = type("Client", (SyncAtlas,), members)(base_url=url)
            with client:
                if how == "pages":
                    return list(client.pages(*arguments, **keywords))
                with client.stream(*arguments, **keywords) as stream:
                    return stream.status, dict(stream.headers), list(getattr(stream, read)() if read else stream)
        client = type("Client", (Atlas,), members)(base_url=url)

        async def collect():
            async with client:
                if how == "pages":
                    return [page async for page in client.pages(*arguments, **keywords)]
                async with client.stream(*arguments, **keywords) as stream:
                    pieces = getattr(stream, read)() if read else stream
                    return stream.status, dict(stream.headers), [piece async for piece in pieces]

        return asyncio.run(collect())

    return by


def link(address, rel="next"):
    return {"Link": f'<{address}>; rel="{rel}"'}


class TestPages:
    def test_the_link_header_leads_on(self, walk, service):
        service.on(
            "GET",
            "/v1/a",
            Answer(headers={"Link": '</first>; rel=first, </v1/b?p=2>; title="x"; rel="last next"'}, body=[1]),
        )
        service.on("GET", "/v1/b", Answer(headers=link("c"), body=[2])).on("GET", "/v1/c", Answer(body=[3]))
        assert walk({}, service.url + "/v1", "pages", "/a", params={"q": "x"}, into=list[int]) == [[1], [2], [3]]
        assert [received.query for received in service.requests] == ["q=x", "p=2", ""]

    def test_next_page_may_find_the_way_in_the_body(self, walk, service):
        service.on("GET", "/a", Answer(body={"next": "/b"})).on("GET", "/b", Answer(body={"next": None}))
        found = walk({"next_page": lambda self, headers, page: page["next"]}, service.url, "pages", "/a")
        assert found == [{"next": "/b"}, {"next": None}]

    def test_a_page_on_another_server_is_not_got(self, walk, service, elsewhere):
        service.on("GET", "/a", Answer(headers=link(elsewhere.url + "/b"), body=[1]))
        with pytest.raises(ExternalServiceException, match="its next page is on another server"):
            walk({}, service.url, "pages", "/a")
        assert not elsewhere.requests

    @pytest.mark.parametrize("address", ["http://[::", "ftp://x/y"])
    def test_an_address_that_is_none_ends_in_a_failure(self, walk, service, address):
        service.on("GET", "/a", Answer(headers=link(address), body=[1]))
        with pytest.raises(ExternalServiceException):
            walk({}, service.url, "pages", "/a")

    def test_pages_in_a_circle_end(self, walk, service):
        service.on("GET", "/a", Answer(headers=link("/b"), body=[1])).on(
            "GET", "/b", Answer(headers=link("/a"), body=[2])
        )
        assert walk({}, service.url, "pages", "/a") == [[1], [2]]

    def test_pages_without_end_end_in_a_failure(self, walk, service):
        service.on("*", lambda path: True, lambda received: Answer(headers=link(received.path + "x"), body=[1]))
        with pytest.raises(ExternalServiceException, match="more than 3 pages"):
            walk({}, service.url, "pages", "/a")
        assert len(service.requests) == 3

    def test_a_page_that_fails_fails(self, walk, service):
        service.on("GET", "/a", Answer(headers=link("/b"), body=[1])).on("GET", "/b", Answer(503))
        with pytest.raises(Http503Exception):
            walk({}, service.url, "pages", "/a")

    def test_a_search_without_hits_is_one_empty_page(self, walk, service):
        service.on("GET", "/a", Answer(404, body={"error": "nothing"}))
        assert walk({}, service.url, "pages", "/a", into=list[int], empty_on_404=True) == [[]]


class TestStreams:
    def test_a_body_of_any_size_comes_in_pieces(self, walk, service):
        service.on("GET", "/a", Answer(headers={"X-One": "1"}, body=b"x" * 300_000))
        status, headers, pieces = walk({}, service.url, "stream", "/a")
        assert (status, headers["x-one"], b"".join(pieces)) == (200, "1", b"x" * 300_000)
        assert len(pieces) > 1

    def test_lines_come_one_by_one(self, walk, service):
        service.on("POST", "/a", Answer(body=(b'data: {"a"', b": 1}\r\n\nl\xc3", b"\xb6s", b"t")))
        _, _, lines = walk({}, service.url, "stream", "/a", method="POST", json={}, read="lines")
        assert lines == ['data: {"a": 1}', "", "löst"]

    def test_a_packed_body_is_unpacked(self, walk, service):
        import gzip

        service.on(
            "GET", "/a", Answer(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b"a\nb" * 1_000, mtime=0))
        )
        _, _, pieces = walk({}, service.url, "stream", "/a")
        assert b"".join(pieces) == b"a\nb" * 1_000

    def test_a_line_without_end_ends_in_a_failure(self, walk, service):
        service.on("GET", "/a", Answer(body=b"x" * 5_000))
        with pytest.raises(ExternalServiceException, match=r"larger than 0\.001 MB"):
            walk({}, service.url, "stream", "/a", read="lines")

    @pytest.mark.parametrize("fault", ["truncated", "reset_in_body", "hang_in_body", "bad_chunk"])
    @pytest.mark.parametrize("read", [None, "lines"])
    def test_a_stream_that_breaks_off_is_a_failure_after_a_good_status(self, walk, service, fault, read):
        service.on("POST", "/a", Answer(body=b"part\n", fault=fault))
        with pytest.raises(ExternalServiceException, match="it answered HTTP 200, but") as caught:
            walk({}, service.url, "stream", "/a", method="POST", json={}, read=read)
        assert caught.value.outcome_unknown is False
        assert "(at /a)" in caught.value.llm_message

    def test_an_error_is_raised_before_the_block(self, walk, service):
        service.on("GET", "/a", Answer(404, body={"message": "no such thing"}))
        with pytest.raises(Http404Exception, match="no such thing"):
            walk({}, service.url, "stream", "/a")

    def test_a_redirect_is_followed(self, walk, service):
        service.on("GET", "/a", Answer(302, headers={"Location": "/b"})).on("GET", "/b", Answer(body=b"there"))
        assert b"".join(walk({}, service.url, "stream", "/a")[2]) == b"there"

    def test_a_block_that_is_left_early_lets_go_of_its_connection(self, kit, service):
        service.on("GET", "/a", Answer(body=b"x" * 3_000_000)).on("GET", "/b", Answer(body="1"))

        def sync():
            with SyncAtlas(base_url=service.url) as client:
                with client.stream("/a") as stream:
                    next(iter(stream))
                return client.get("/b")

        async def asynchronous():
            async with Atlas(base_url=service.url) as client:
                async with client.stream("/a") as stream:
                    async for _ in stream:
                        break
                return await client.get("/b")

        assert (asyncio.run(asynchronous()) if kit.is_async else sync()) == 1
