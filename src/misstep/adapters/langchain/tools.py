"""Calls tools of LangChain, as a model would."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from misstep.adapters.toolset.call_interceptor import slot_of
from misstep.adapters.toolset.calling import Loop, missing
from misstep.adapters.toolset.functions import injected_parameters

CALL_ID = "call-1"
# Kinds of injected arguments that are also there without a graph.
GIVEN = ("RunnableConfig", "InjectedToolCallId", "CallbackManager")


def invoker(tool: Any, is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns what the model would see of its result."""
    with suppress(Exception):  # otherwise it turns refusals into texts
        tool.handle_validation_error = False
    name = tool.name
    if injected := _injected(tool):
        raise missing(name, f"for '{injected[0]}'")

    def invoke(arguments: dict[str, Any]) -> Any:
        call = {"name": name, "args": arguments, "id": CALL_ID, "type": "tool_call"}
        message = loop.settle(tool.ainvoke(call)) if is_async else tool.invoke(call)
        return getattr(message, "content", message)

    return invoke


def _injected(tool: Any) -> list[str]:
    """Arguments that only a surrounding graph could provide."""
    slot = slot_of("langchain", tool)
    hints = injected_parameters(slot.get()) if slot else {}
    return [name for name, hint in hints.items() if not any(word in str(hint) for word in GIVEN)]
