"""Calls tools of smolagents."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(tool: Any, _is_async: bool, _loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool, after the checks its agents make, and returns its result."""
    from smolagents.tools import validate_tool_arguments

    def invoke(arguments: dict[str, Any]) -> Any:
        validate_tool_arguments(tool, arguments)
        return tool(**arguments, sanitize_inputs_outputs=True)

    return invoke
