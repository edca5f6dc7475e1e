"""Calls tools of LlamaIndex."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop, Returned, told


def invoker(tool: Any, is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns what the model would see of its result."""

    def invoke(arguments: dict[str, Any]) -> Returned:
        output = loop.settle(tool.acall(**arguments)) if is_async else tool.call(**arguments)
        return told(getattr(output, "content", output), flagged=bool(getattr(output, "is_error", False)))

    return invoke
