"""An exception that a person names by its import path. The one place where something of theirs is imported."""

import contextlib
import sys
from importlib import import_module
from typing import cast

from nucleo.cli.explain.stand_in import instance, named
from nucleo.cli.explain.unusable import UnusableInputError
from nucleo.errors import LLMReadableException
from nucleo.errors.retry import RetrySignal
from nucleo.errors.root import rebuild
from nucleo.errors.translate.registry import qualified_name


def exception_at(path: str, message: str) -> BaseException:
    """Find the exception, or make one of the class, that is at an import path.

    Args:
        path: ``package.module:name``, or with a dot in place of the colon.
        message: The text of the exception, where the path names a class.

    Raises:
        UnusableInputError: Nothing is there, or no exception.
    """
    module_name, colon, name = path.partition(":") if ":" in path else path.rpartition(".")
    if not colon or not name or not module_name:
        raise UnusableInputError(f"{path!r} is no import path: write package.module:name")
    found = _imported(path, module_name, name)
    if isinstance(found, BaseException):
        return found
    kind = cast("type[object]", found)
    if isinstance(found, type) and issubclass(kind, BaseException):
        return _made(kind, message)
    raise UnusableInputError(f"{path!r} is a {type(found).__name__}, not an exception")


def _imported(path: str, module_name: str, name: str) -> object:
    sys.path.insert(0, "")
    # What a module prints while it loads is no part of the answer, which a program may read.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            found: object = import_module(module_name)
            for part in name.split("."):
                found = getattr(found, part)
        except (Exception, SystemExit) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise UnusableInputError(f"{path!r} cannot be imported: {said}") from error
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove("")
    return found


def _made(kind: type[BaseException], message: str) -> BaseException:
    if issubclass(kind, RetrySignal):
        return rebuild(kind, {}, ())
    made = instance(kind, message)
    if made is not None:
        return made
    if issubclass(kind, LLMReadableException):
        raise UnusableInputError(
            f"{kind.__name__} is a member of the set that a message alone does not make: name an instance"
        )
    # Its name and its text say enough of an exception from outside the set.
    return named(qualified_name(kind), message)
