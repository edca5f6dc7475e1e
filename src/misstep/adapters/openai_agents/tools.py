"""Calls tools of the OpenAI Agents SDK, with arguments as JSON text."""

import json
from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.call_interceptor import slot_of
from misstep.adapters.toolset.calling import Loop, context_of

CALL_ID = "call-1"


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns its result; exceptions are not converted."""
    from agents import RunContextWrapper
    from agents.tool import set_function_tool_failure_error_function
    from agents.tool_context import ToolContext

    set_function_tool_failure_error_function(tool, None)
    slot = slot_of("openai-agents", tool)
    given = context_of(slot.get(), (RunContextWrapper, ToolContext), tool.name) if slot else None

    def invoke(arguments: dict[str, Any]) -> Any:
        text = json.dumps(arguments)
        context = ToolContext(given, tool_name=tool.name, tool_call_id=CALL_ID, tool_arguments=text)
        return loop.settle(tool.on_invoke_tool(context, text))

    return invoke
