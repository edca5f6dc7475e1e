"""Calls tools of CrewAI, without its limit on how often one may be used."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns its result."""
    with suppress(Exception):
        tool.max_usage_count = None

    def invoke(arguments: dict[str, Any]) -> Any:
        return loop.settle(tool.run(**arguments))

    return invoke
