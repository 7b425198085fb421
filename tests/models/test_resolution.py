import asyncio

import pytest

from nucleo.errors import UncorrectableRuntimeLLMException
from nucleo.models import ModelCatalog, ModelEntry, check_model_id, open_model, resolve_model, shared_model
from nucleo.testing import run


@pytest.mark.parametrize("model_id", ["gpt-5", "", ":", "openai:", ":gpt-5", " : "])
def test_an_id_without_provider_or_name_is_refused_with_the_right_form(model_id):
    for refuse in (check_model_id, resolve_model):
        with pytest.raises(UncorrectableRuntimeLLMException, match="provider:name") as caught:
            refuse(model_id)
        assert "anthropic, openai" in caught.value.llm_message


def test_the_example_is_the_nearest_known_id():
    with pytest.raises(UncorrectableRuntimeLLMException, match="'openai:gpt-5-mini'"):
        check_model_id("gpt-5-mini")


def test_an_id_of_the_right_form_is_given_back_without_looking_for_the_provider():
    assert check_model_id("nowhere:some-model:latest") == "nowhere:some-model:latest"


def test_an_unknown_provider_is_refused_with_the_known_ones():
    with pytest.raises(UncorrectableRuntimeLLMException, match=r"no model provider 'gemini'.*anthropic, openai"):
        resolve_model("gemini:pro")


def test_a_provider_of_another_package_is_found_by_its_entry_point(tmp_path, monkeypatch):
    (tmp_path / "acme_models.py").write_text(
        "from nucleo.models import ScriptedModel\n"
        "class Acme(ScriptedModel):\n"
        "    def __init__(self, *, answer):\n"
        "        super().__init__([answer])\n",
        encoding="utf-8",
    )
    info = tmp_path / "acme_models-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-models\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[nucleo.models]\nacme = acme_models:Acme\nbroken = acme_models:Missing\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    client, name = resolve_model("acme:tiny:latest", answer="Yes.")
    assert (type(client).__name__, name) == ("Acme", "tiny:latest")
    with pytest.raises(UncorrectableRuntimeLLMException, match="cannot be loaded"):
        resolve_model("broken:tiny")
    catalog = ModelCatalog(
        (ModelEntry(id="fast:one", provider="acme", wire_name="tiny", max_output=9, context_window=99),)
    )
    assert resolve_model("fast:one", catalog=catalog, answer="Yes.")[1] == "tiny"

    async def act():
        async with open_model("fast:one", catalog=catalog, answer="Yes.") as opened:
            return opened

    opened = run(act())
    assert (opened.provider, opened.wire_name, opened.max_output, opened.context_window) == ("acme", "tiny", 9, 99)


def test_runs_on_one_loop_share_a_client_and_it_is_closed_with_the_loop(tmp_path, monkeypatch):
    (tmp_path / "shared_models.py").write_text(
        "closed = []\nclass Client:\n    async def aclose(self):\n        closed.append(self)\n",
        encoding="utf-8",
    )
    info = tmp_path / "shared_models-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shared-models\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[nucleo.models]\nshared = shared_models:Client\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    from shared_models import closed

    async def main():
        first, second = await shared_model("shared:a"), await shared_model("shared:a")
        other = await shared_model("shared:b")
        assert first.client is second.client is not other.client
        assert closed == []
        return [first.client, other.client]

    clients = asyncio.run(main())
    assert sorted(map(id, closed)) == sorted(map(id, clients))
    closed.clear()
    assert asyncio.run(main())[0] not in clients
