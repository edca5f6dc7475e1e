"""What frameworks give to a tool beside the model's arguments, as far as it can be made up."""

import inspect
import typing
from collections.abc import Callable
from typing import Any

from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.toolset.functions import readable_hints
from misstep.errors import UsageError

ANYTHING = (Any, object, None, type(None))


def belongings(function: Callable[..., Any], contexts: tuple[type, ...], name: str) -> Any:
    """What a tool expects to find in its context: an object of the class that `Context[Class]` names.

    It is made without arguments; a `UsageError` where that is impossible. None if nothing is said.
    """
    for hint in readable_hints(function).values():
        if typing.get_origin(hint) in contexts:
            wanted = typing.get_args(hint)[0]
            return None if wanted in ANYTHING or not inspect.isclass(wanted) else _made(wanted, name)
    return None


def _made(wanted: type, name: str) -> Any:
    if not required_parameters(wanted):
        try:
            return wanted()
        except Exception:  # it needs something all the same, such as a key
            pass
    raise missing(name, f"of the type {wanted.__name__}")


def missing(name: str, what: str) -> UsageError:
    """That a tool needs what only the program around it has."""
    message = f"'{name}' needs something {what} from its framework, which can't be made up"
    return UsageError(message, "wrap it in a function that gives it, and name that")
