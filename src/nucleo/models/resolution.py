"""From a model id to a client: ``provider:name``, the provider found by the entry-point group ``nucleo.models``.

Apart from the catalog because a model can be called that no catalog knows.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from nucleo.errors import UncorrectableRuntimeLLMException
from nucleo.errors.accounts import nearest
from nucleo.errors.text import brief
from nucleo.models.catalog import ModelCatalog, shipped_catalog
from nucleo.models.client import ModelClient

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP: Final = "nucleo.models"
"""The entry-point group in which a package names the clients it brings: ``prefix = "module:Class"``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModel:
    """A model that can be asked.

    Attributes:
        client: Who carries the calls.
        provider: The provider, for signals and logs.
        wire_name: What the provider calls the model.
        context_window: Tokens of its window; None when not known.
        max_output: Tokens a reply may have at most; None when not known.
    """

    client: ModelClient
    provider: str
    wire_name: str
    context_window: int | None = None
    max_output: int | None = None


def check_model_id(model_id: str) -> str:
    """Check the form of a model id, without looking for the provider.

    Args:
        model_id: The id, ``provider:name``.

    Returns:
        The id.

    Raises:
        UncorrectableRuntimeLLMException: It has another form; the message shows the right one.
    """
    _split(model_id)
    return model_id


def resolve_model(model_id: str, *, catalog: ModelCatalog | None = None, **options: Any) -> tuple[ModelClient, str]:
    """Make the client for a model id.

    Args:
        model_id: The id, ``provider:name``.
        catalog: Where the wire name of the id is looked up; None for the shipped one. An id that it does not hold
            is asked for by the name it has.
        options: For the client, such as ``api_key``, ``base_url`` or ``timeout``.

    Returns:
        A new client, which the caller closes, and the name of the model for its requests.

    Raises:
        UncorrectableRuntimeLLMException: The id has no provider, the provider is unknown, or its package is missing;
            the message says what to do.
        UnauthorizedException: The provider has no key; the message names the variable.
    """
    prefix, name = _split(model_id)
    entry = (catalog or shipped_catalog()).get(model_id)
    provider = prefix if entry is None else entry.provider
    make = _client_class(provider)
    return cast("ModelClient", make(**options)), name if entry is None else entry.wire_name


@asynccontextmanager
async def open_model(
    model: str | ModelClient, *, catalog: ModelCatalog | None = None, **options: Any
) -> AsyncGenerator[OpenedModel, None]:
    """Open a model for as long as it is needed.

    Args:
        model: An id, for which a client is made and closed; or a client, which stays open.
        catalog: Where limits and the wire name of an id are looked up; None for the shipped one.
        options: For the client of an id.

    Raises:
        LLMReadableException: As `resolve_model` does.
    """
    if not isinstance(model, str):
        yield OpenedModel(
            client=model,
            provider=str(getattr(model, "provider", type(model).__name__)),
            wire_name=str(getattr(model, "model", None) or ""),
        )
        return
    opened = make_model(model, catalog=catalog, **options)
    try:
        yield opened
    finally:
        await opened.client.aclose()


def make_model(model_id: str, *, catalog: ModelCatalog | None = None, **options: Any) -> OpenedModel:
    """Make the client of an id, which the caller closes, with what the catalog knows of the model.

    Raises:
        LLMReadableException: As `resolve_model` does.
    """
    client, wire_name = resolve_model(model_id, catalog=catalog, **options)
    entry = (catalog or shipped_catalog()).get(model_id)
    return OpenedModel(
        client=client,
        provider=_split(model_id)[0] if entry is None else entry.provider,
        wire_name=wire_name,
        context_window=None if entry is None else entry.context_window,
        max_output=None if entry is None else entry.max_output,
    )


def _split(model_id: str) -> tuple[str, str]:
    prefix, colon, name = model_id.partition(":")
    if prefix.strip() and colon and name.strip():
        return prefix.strip(), name.strip()
    near = nearest(name or prefix, [entry.id for entry in shipped_catalog()], count=1)
    raise UncorrectableRuntimeLLMException(
        f"The model id '{brief(model_id)}' names no provider and model: write 'provider:name', for example "
        f"'{near[0]}'. The providers here are {_known_providers()}."
    )


def _client_class(provider: str) -> Any:
    found = _entry_points().select(name=provider)
    if not found:
        raise UncorrectableRuntimeLLMException(
            f"There is no model provider '{brief(provider)}'. The providers here are {_known_providers()}; "
            f"a package brings others by the entry-point group '{GROUP}'."
        )
    return _loaded(next(iter(found)))


def _loaded(entry_point: "EntryPoint") -> Any:
    try:
        return entry_point.load()
    except (ImportError, AttributeError) as error:
        raise UncorrectableRuntimeLLMException(
            f"The model provider '{brief(entry_point.name)}' cannot be loaded from {entry_point.value}: {brief(error)}"
        ) from error


def _known_providers() -> str:
    return ", ".join(sorted(_entry_points().names)) or "none"


def _entry_points() -> "EntryPoints":
    # The reader of installed packages is slow to load, and a client given as such never needs it.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=GROUP)
