"""Prompt templates of the built-in agents, and the results of their calls."""

from collections.abc import Sequence
from importlib.resources import files

import msgspec

from misstep.adapters.arguments import read_arguments, takes_arguments
from misstep.core.agent import Tool, Toolbox
from misstep.core.model import Template, ToolCall, ToolResult, check_template, read_template


def load_template(shipped: str, own_file: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """The user's template or the default one, with its placeholders checked."""
    text = read_template(own_file) if own_file else _shipped(shipped)
    return check_template(text, own_file or f"{shipped}.txt", known, needed)


def list_tools(tools: Sequence[Tool]) -> str:
    """One line per tool, with its arguments if it takes any."""
    return "\n".join(f"- {tool.name}: {tool.description}{_arguments(tool)}" for tool in tools)


def _arguments(tool: Tool) -> str:
    if not takes_arguments(tool.parameters):
        return ""
    return f" Arguments: {msgspec.json.encode(tool.parameters).decode()}"


def _shipped(name: str) -> str:
    return (files("misstep.adapters.builtin") / "data" / f"{name}.txt").read_text("utf-8")


def carry_out(calls: Sequence[ToolCall], toolbox: Toolbox, turn: int) -> list[ToolResult]:
    """The results of the calls of one turn; invalid calls get a result that says what is wrong."""
    arguments = [read_arguments(call.arguments) for call in calls]
    for call, given in zip(calls, arguments, strict=True):
        toolbox.ask(call.name, given, turn)
    return [
        ToolResult(call.id, toolbox.call(call.name, given, turn))
        for call, given in zip(calls, arguments, strict=True)
    ]
