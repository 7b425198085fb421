from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nucleo.models import (
    CatalogError,
    ModelCatalog,
    ModelEntry,
    ModelNotFoundException,
    Prices,
    shipped_catalog,
)
from nucleo.models.catalog_file import parse_catalog


def read(text):
    return parse_catalog(text.encode() if isinstance(text, str) else text, source="models.toml")


def faults_of(text):
    with pytest.raises(CatalogError) as caught:
        read(text)
    assert str(caught.value).startswith("models.toml")
    return [(fault.line, fault.problem) for fault in caught.value.faults]


def test_a_full_entry_is_read_as_it_stands():
    (entry,) = read(
        '[[models]]\nid = "acme:big"\nprovider = "openai"\nwire_name = "big-1"\ncontext_window = 1_000\nmax_output = 100\n'
        'rpm = 5\ntpm = 7\nstatus = "legacy"\nprices = { input = 1, output = 2.50, cached_input = 0.1, currency = "EUR" }\n'
    )
    assert entry == ModelEntry(
        id="acme:big",
        provider="openai",
        wire_name="big-1",
        context_window=1_000,
        max_output=100,
        rpm=5,
        tpm=7,
        status="legacy",
        prices=Prices(input=Decimal(1), output=Decimal("2.50"), cached_input=Decimal("0.1"), currency="EUR"),
    )


def test_provider_and_wire_name_are_in_the_id():
    (entry,) = read('[[models]]\nid = "ollama:qwen:7b"\n')
    assert (entry.provider, entry.wire_name, entry.prices, entry.status) == ("ollama", "qwen:7b", None, "active")


def test_every_fault_is_told_with_its_line():
    text = """\
surplus = 1

[[models]]
id = "no-provider"
max_output = -1

[[models]]
id = "acme:big"
contextwindow = 5
status = "gone"
prices = { input = "free", outputs = 2 }

[[models]]
id = "acme:big2"
[models.prices]
input = 1
output = true

[[models]]
max_output = true
"""
    assert [line for line, _ in faults_of(text)] == [1, 4, 5, 9, 10, 11, 11, 11, 17, 19, 20]
    problems = " ".join(problem for _, problem in faults_of(text))
    assert "'contextwindow'; did you mean 'context_window'?" in problems
    assert "'prices.outputs'; did you mean 'output'?" in problems
    assert "active, legacy, deprecated, retired" in problems
    assert "provider:name" in problems


def test_an_id_that_is_there_twice_is_told():
    assert faults_of('[[models]]\nid = "a:b"\n\n[[models]]\nid = "a:b"\n') == [(5, "the id 'a:b' is there twice")]


def test_broken_toml_is_told_with_its_line():
    ((line, problem),) = faults_of('[[models]]\nid = "a:b"\nrpm = = 3\n')
    assert line == 3
    assert "not TOML" in problem


def test_a_file_that_is_no_text_is_told_with_its_line():
    assert faults_of(b'[[models]]\nid = "a:\xff"\n') == [(2, "this is not UTF-8 text")]


@pytest.mark.parametrize("text", ["models = 3", '[models]\nid = "a:b"', 'models = ["a:b"]'])
def test_models_in_another_form_are_refused(text):
    assert faults_of(text)[0][0] == 1


def test_an_inline_array_of_models_is_read():
    assert [entry.id for entry in read('models = [{ id = "a:b" }, { id = "a:c" }]')] == ["a:b", "a:c"]


def test_an_empty_catalog_holds_nothing():
    assert read("") == ()


@given(st.binary(max_size=200))
def test_whatever_a_file_holds_it_is_read_or_refused(content):
    with suppress(CatalogError):
        assert isinstance(parse_catalog(content, source="models.toml"), tuple)


def test_a_model_that_is_not_there_is_refused_with_the_nearest():
    catalog = ModelCatalog((ModelEntry(id="acme:large", provider="acme", wire_name="large"),))
    with pytest.raises(ModelNotFoundException, match="acme:large") as caught:
        catalog.find("acme:lrge")
    assert caught.value.model_id == "acme:lrge"
    assert catalog.get("acme:lrge") is None


def test_two_entries_of_one_id_are_refused_in_code_too():
    entry = ModelEntry(id="a:b", provider="a", wire_name="b")
    with pytest.raises(ValueError, match="two models of the id 'a:b'"):
        ModelCatalog((entry, entry))


def test_a_catalog_grows_into_another_and_new_knowledge_takes_the_old_place():
    old = ModelCatalog((ModelEntry(id="a:b", provider="a", wire_name="b"),))
    new = old.with_entries(
        [ModelEntry(id="a:b", provider="a", wire_name="b2"), ModelEntry(id="a:c", provider="a", wire_name="c")]
    )
    assert [entry.wire_name for entry in new] == ["b2", "c"]
    assert [entry.wire_name for entry in old] == ["b"]
    assert "a:c" in new
    assert "a:c" not in old
    assert (len(old), len(new)) == (1, 2)


def test_a_catalog_is_read_from_its_file(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text('[[models]]\nid = "a:b"\n', encoding="utf-8")
    assert ModelCatalog.from_toml(path).find("a:b").wire_name == "b"


def test_the_shipped_catalog_is_whole():
    catalog = shipped_catalog()
    assert {entry.provider for entry in catalog} == {"anthropic", "openai"}
    for entry in catalog:
        assert entry.context_window
        assert entry.max_output
        assert entry.max_output <= entry.context_window
        assert entry.prices is None or entry.prices.input < entry.prices.output
