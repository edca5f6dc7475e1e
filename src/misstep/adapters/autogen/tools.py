"""Calls tools of AutoGen."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns what the model would see of its result."""
    from autogen_core import CancellationToken

    def invoke(arguments: dict[str, Any]) -> Any:
        result = loop.settle(tool.run_json(arguments, CancellationToken()))
        return tool.return_value_as_string(result)

    return invoke
