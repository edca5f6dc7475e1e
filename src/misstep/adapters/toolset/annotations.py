"""The type hints of functions, those in quotation marks as what they mean."""

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.adapters.toolset.sources import unwrapped


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of all parameters. Raises `NameError`, and whatever code in a hint raises."""
    return _resolved(
        function, {name: hint for name, hint in _annotations(function).items() if name != "return"}
    )


def return_hint(function: Callable[..., Any]) -> Any:
    """The hint of what the function returns; `Any` where others decide that. Raises as `hints_of` does."""
    if _is_wrapped(function):
        return Any
    return _resolved(function, {"return": _annotations(function).get("return", Any)})["return"]


def _is_wrapped(function: Any) -> bool:
    """Whether a decorator has the last word about results; caches and frameworks pass them on."""
    if isinstance(function, functools.partial):
        return _is_wrapped(function.func)
    if inspect.ismethod(function):
        return _is_wrapped(function.__func__)
    if isinstance(function, functools._lru_cache_wrapper) or _is_of_framework(function):
        return _is_wrapped(function.__wrapped__)
    return hasattr(function, "__wrapped__")


def _is_of_framework(function: Any) -> bool:
    """Whether a framework has put its own function round one of the user's."""
    home = str(getattr(function, "__globals__", {}).get("__name__", ""))
    packages = [package for framework in FRAMEWORKS.values() for package in framework.packages]
    is_theirs = any(f"{home}.".startswith(f"{package}.") for package in packages)
    return is_theirs and hasattr(function, "__wrapped__")


def _resolved(function: Callable[..., Any], hints: dict[str, Any]) -> dict[str, Any]:
    bare = types.SimpleNamespace(__annotations__=hints)
    return typing.get_type_hints(bare, getattr(unwrapped(function), "__globals__", {}), include_extras=True)


def _annotations(function: Any) -> dict[str, Any]:
    return getattr(unwrapped(function), "__annotations__", None) or {}
