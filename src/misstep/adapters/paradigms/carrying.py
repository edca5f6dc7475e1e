"""From the calls of a reply to their results."""

from collections.abc import Sequence

from misstep.adapters.arguments import read_arguments
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
