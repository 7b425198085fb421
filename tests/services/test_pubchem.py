"""PubChem on loopback, answering as recorded."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nucleo.errors import (
    ExternalServiceException,
    Http400Exception,
    Http404Exception,
    Http429Exception,
    InvalidInputException,
    ResourceNotFoundException,
    UpstreamThrottleException,
)
from nucleo.services import Compound, PubChem, Throttling, pubchem_tools
from nucleo.testing import Answer, FailingService
from nucleo.tools import Palette, call_tool

CORPUS = Path(__file__).parent.parent / "errors_http" / "corpus" / "cases.jsonl"
GREEN = "Request Count status: Green (0%), Request Time status: Green (0%), Service status: Green (20%)"
BLACK = "Request Count status: Black (104%), Request Time status: Green (3%), Service status: Yellow (55%)"

ASPIRIN = {
    "CID": 2244,
    "MolecularFormula": "C9H8O4",
    "MolecularWeight": "180.16",
    "SMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
    "InChIKey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
    "IUPACName": "2-acetyloxybenzoic acid",
    "Title": "Aspirin",
    "XLogP": 1.2,
    "TPSA": 63.6,
    "HBondDonorCount": 1,
    "HBondAcceptorCount": 4,
}


def recorded(case):
    lines = map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    found = next(line for line in lines if line["id"] == case)
    return Answer(found["status"], headers=found["headers"], body=found["body"].encode())


def fault(status, code, message, details=(), **headers):
    return Answer(status, headers=headers, body={"Fault": {"Code": code, "Message": message, "Details": list(details)}})


@pytest.fixture
def service():
    with FailingService() as running:
        yield running


@pytest.fixture
def pubchem(service):
    return PubChem(base_url=f"{service.url}/rest/pug")


def answer_all(service, *answers):
    service.on("*", lambda path: True, *answers)


def table(*properties):
    return Answer(headers={"X-Throttling-Control": GREEN}, body={"PropertyTable": {"Properties": list(properties)}})


class TestSearch:
    def test_a_name_gives_its_compounds(self, service, pubchem):
        service.on("GET", "/rest/pug/compound/name/aspirin/cids/JSON", Answer(body={"IdentifierList": {"CID": [2244]}}))
        assert asyncio.run(pubchem.find(" aspirin ")) == [2244]

    def test_a_name_nobody_has_is_an_empty_result(self, service, pubchem):
        answer_all(service, recorded("pubchem-not-found"))
        assert asyncio.run(pubchem.find("notachemical")) == []

    def test_compound_zero_is_none(self, service, pubchem):
        answer_all(service, Answer(body={"IdentifierList": {"CID": [0]}}))
        assert asyncio.run(pubchem.find("x")) == []

    def test_a_name_is_quoted(self, service, pubchem):
        answer_all(service, Answer(body={"IdentifierList": {"CID": [1]}}))
        asyncio.run(pubchem.find("vitamin b12? 50%"))
        assert service.requests[0].path == "/rest/pug/compound/name/vitamin%20b12%3F%2050%25/cids/JSON"

    @pytest.mark.parametrize("name", ["a/b", "../../etc/passwd", "..", "."])
    def test_a_name_that_no_path_can_hold_goes_into_the_body(self, service, pubchem, name):
        answer_all(service, Answer(body={"IdentifierList": {"CID": [1]}}))
        assert asyncio.run(pubchem.find(name)) == [1]
        (received,) = service.requests
        assert (received.method, received.path) == ("POST", "/rest/pug/compound/name/cids/JSON")
        assert received.body.startswith(b"name=")

    def test_a_search_by_post_that_is_never_answered_leaves_nothing_unknown(self, service, pubchem):
        answer_all(service, Answer(fault="reset"))
        with pytest.raises(ExternalServiceException) as caught:
            asyncio.run(pubchem.find("a/b"))
        assert caught.value.outcome_unknown is False

    @pytest.mark.parametrize("name", ["", " ", "\n"])
    def test_a_blank_name_is_the_models_to_correct(self, service, pubchem, name):
        with pytest.raises(InvalidInputException, match="must not be blank"):
            asyncio.run(pubchem.find(name))
        assert not service.requests

    def test_a_busy_server_is_no_empty_result(self, service, pubchem):
        answer_all(service, recorded("pubchem-server-busy"))
        with pytest.raises(Http429Exception) as caught:
            asyncio.run(pubchem.find("aspirin"))
        assert isinstance(caught.value, UpstreamThrottleException)
        assert caught.value.http.status_code == 503


class TestFetch:
    def test_a_compound_is_read(self, service, pubchem):
        answer_all(service, table(ASPIRIN))
        found = asyncio.run(pubchem.compound(2244))
        assert found == Compound(**ASPIRIN)
        assert (found.cid, found.title, found.weight) == (2244, "Aspirin", 180.16)

    def test_the_old_name_of_the_structure_is_read_too(self, service, pubchem):
        answer_all(service, table({"CID": 1, "IsomericSMILES": "CCO"}))
        assert asyncio.run(pubchem.compound(1)).smiles == "CCO"

    def test_several_come_in_the_order_asked_for(self, service, pubchem):
        answer_all(service, table({"CID": 2, "Title": "B"}, {"CID": 1, "Title": "A"}))
        assert [each.title for each in asyncio.run(pubchem.compounds([1, 2, 1]))] == ["A", "B", "A"]

    def test_an_unknown_compound_is_correctable(self, service, pubchem):
        answer_all(service, fault(404, "PUGREST.NotFound", "No records found for the given CID(s)"))
        with pytest.raises(Http404Exception, match="No records found"):
            asyncio.run(pubchem.compound(99_999_999))

    @pytest.mark.parametrize("answer", [table({"CID": 7}), table()])
    def test_a_compound_of_which_nothing_is_known_does_not_exist(self, service, pubchem, answer):
        answer_all(service, answer)
        with pytest.raises(ResourceNotFoundException, match="PubChem compound"):
            asyncio.run(pubchem.compound(7))

    def test_a_bad_request_quotes_the_fault(self, service, pubchem):
        answer_all(service, recorded("pubchem-bad-request"))
        with pytest.raises(Http400Exception, match="not a valid integer"):
            asyncio.run(pubchem.compound(5))

    @pytest.mark.parametrize("cids", [[], [0], [-1], [1, 0], [1] * 101])
    def test_identifiers_are_checked_before_anything_is_sent(self, service, pubchem, cids):
        with pytest.raises(InvalidInputException):
            asyncio.run(pubchem.compounds(cids))
        assert not service.requests

    def test_an_answer_of_another_form_could_not_be_read(self, service, pubchem):
        answer_all(service, Answer(body={"PC_Compounds": []}))
        with pytest.raises(ExternalServiceException, match="could not be read") as caught:
            asyncio.run(pubchem.compound(1))
        assert caught.value.http is None


class TestQuirks:
    def test_a_request_that_takes_too_long_is_to_be_narrowed(self, service, pubchem):
        answer_all(service, fault(504, "PUGREST.Timeout", "Request timed out at db7.internal"))
        with pytest.raises(ExternalServiceException, match="Narrow it") as caught:
            asyncio.run(pubchem.compound(1))
        assert "internal" not in caught.value.llm_message
        assert caught.value.http.status_code == 504
        assert caught.value.outcome_unknown is False

    def test_a_gateway_that_times_out_is_not_taken_for_it(self, service, pubchem):
        answer_all(service, Answer(504, body="<html><title>Gateway Time-out</title></html>"))
        with pytest.raises(ExternalServiceException) as caught:
            asyncio.run(pubchem.compound(1))
        assert "Narrow" not in caught.value.llm_message

    def test_a_search_that_goes_on_without_us_is_to_be_narrowed(self, service, pubchem):
        answer_all(service, Answer(202, body={"Waiting": {"ListKey": "123"}}))
        with pytest.raises(ExternalServiceException, match="Narrow it"):
            asyncio.run(pubchem.find("x"))

    @pytest.mark.parametrize("status", [403, 503])
    @pytest.mark.parametrize("body", [b"", b"<html><title>503</title></html>"])
    def test_blocking_that_only_the_header_tells_is_a_throttle(self, service, pubchem, status, body):
        answer_all(service, Answer(status, headers={"X-Throttling-Control": BLACK}, body=body))
        with pytest.raises(Http429Exception, match="blocks our calls") as caught:
            asyncio.run(pubchem.compound(1))
        assert caught.value.http.status_code == status
        assert caught.value.http.headers["x-throttling-control"] == BLACK
        assert not caught.value.is_correctable

    def test_a_server_that_is_down_is_not_a_throttle(self, service, pubchem):
        answer_all(service, Answer(503, headers={"X-Throttling-Control": GREEN}, body="maintenance"))
        with pytest.raises(ExternalServiceException) as caught:
            asyncio.run(pubchem.compound(1))
        assert not isinstance(caught.value, UpstreamThrottleException)

    def test_every_answer_tells_how_much_of_the_limit_is_used(self, service, pubchem):
        answer_all(service, table(ASPIRIN), recorded("pubchem-not-found"))
        assert pubchem.throttling is None
        asyncio.run(pubchem.compound(2244))
        assert pubchem.throttling.service.percent == 20
        asyncio.run(pubchem.find("notachemical"))
        assert pubchem.throttling.count.percent == 2
        assert not pubchem.throttling.is_blocking


class TestThrottling:
    def test_the_documented_form_is_read(self):
        found = Throttling.read(BLACK)
        assert (found.count.colour, found.count.percent, found.is_blocking) == ("Black", 104, True)
        assert (found.service.colour, found.service.percent) == ("Yellow", 55)

    @pytest.mark.parametrize("header", ["", "red", "green", "Request Count status: Green (0%)", "black; quota used"])
    def test_another_form_is_none(self, header):
        assert Throttling.read(header) is None

    @given(st.text(max_size=300))
    def test_no_header_makes_it_raise(self, header):
        Throttling.read(header)


class TestTools:
    def call(self, pubchem, tool, /, **arguments):
        return asyncio.run(call_tool(Palette(pubchem_tools(pubchem)), arguments, name=tool))

    def test_a_search_gives_identifiers(self, service, pubchem):
        answer_all(service, Answer(body={"IdentifierList": {"CID": [2244, 5]}}))
        result = self.call(pubchem, "pubchem_find_compounds", name="aspirin")
        assert not result.is_error
        assert json.loads(result.content) == [2244, 5]

    def test_a_compound_is_given_with_names_a_model_can_read(self, service, pubchem):
        answer_all(service, table(ASPIRIN))
        result = self.call(pubchem, "pubchem_get_compound", cid=2244)
        assert json.loads(result.content)["formula"] == "C9H8O4"

    def test_several_compounds_are_given(self, service, pubchem):
        answer_all(service, table(ASPIRIN))
        result = self.call(pubchem, "pubchem_get_compounds", cids=[2244])
        assert json.loads(result.content)[0]["cid"] == 2244

    def test_an_unknown_identifier_is_addressed_to_the_parameter(self, service, pubchem):
        answer_all(service, fault(404, "PUGREST.NotFound", "No CID found"))
        result = self.call(pubchem, "pubchem_get_compound", cid=99_999_999)
        assert result.is_error
        assert "99999999" in result.content
        assert "'cid'" in result.content
        assert "This error may be correctable" in result.content

    def test_a_throttle_stays_one_through_the_tool(self, service, pubchem):
        answer_all(service, recorded("pubchem-server-busy"))
        result = self.call(pubchem, "pubchem_find_compounds", name="aspirin")
        assert isinstance(result.failure, UpstreamThrottleException)
        assert "is not correctable" in result.content

    def test_a_tool_without_an_answer_says_so(self, service, pubchem):
        answer_all(service, Answer(fault="close"))
        result = self.call(pubchem, "pubchem_get_compound", cid=1)
        assert "PubChem" in result.content
        assert "127.0.0.1" not in result.content

    def test_the_tools_change_nothing_and_say_what_they_take(self, pubchem):
        tools = {each.name: each for each in pubchem_tools(pubchem)}
        assert set(tools) == {"pubchem_find_compounds", "pubchem_get_compound", "pubchem_get_compounds"}
        assert tools["pubchem_get_compound"].input_schema["required"] == ["cid"]
