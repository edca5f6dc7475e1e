"""From the calls of a reply to their results."""

import json
from collections.abc import Sequence
from typing import Any

from misstep.core.agent import Toolbox
from misstep.core.model import ToolCall, ToolResult


def carry_out(calls: Sequence[ToolCall], toolbox: Toolbox, turn: int) -> list[ToolResult]:
    """The results of the calls of one turn; bad calls get a result that says what is wrong with them."""
    arguments = [read_arguments(call.arguments) for call in calls]
    for call, given in zip(calls, arguments, strict=True):
        toolbox.ask(call.name, given, turn)
    return [
        ToolResult(call.id, toolbox.call(call.name, given, turn))
        for call, given in zip(calls, arguments, strict=True)
    ]


def read_arguments(text: str) -> Any:
    """Arguments out of JSON; what is no JSON stays the text it is, and nothing at all means none."""
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
