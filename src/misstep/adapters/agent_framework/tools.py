"""Calls tools of Microsoft's Agent Framework."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns what the model would see of its result."""

    def invoke(arguments: dict[str, Any]) -> Any:
        parts = loop.settle(tool.invoke(arguments=arguments))
        if not isinstance(parts, list):
            return parts
        return "\n".join(str(getattr(part, "text", None) or part) for part in parts)

    return invoke
