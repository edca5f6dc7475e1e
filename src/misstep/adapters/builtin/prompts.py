"""Prompt templates of the built-in agents."""

from collections.abc import Sequence
from importlib.resources import files

import msgspec

from misstep.adapters.arguments import takes_arguments
from misstep.core.agent import Tool
from misstep.core.model import Template, check_template, read_template


def load_template(shipped: str, own_file: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """The user's template or the default one, with its placeholders checked."""
    default = files("misstep.adapters.builtin") / "data" / f"{shipped}.txt"
    text = read_template(own_file) if own_file else default.read_text("utf-8")
    return check_template(text, own_file or f"{shipped}.txt", known, needed)


def list_tools(tools: Sequence[Tool]) -> str:
    """One line per tool, with its arguments if it takes any."""
    lines = [f"- {tool.name}: {tool.description}" for tool in tools]
    for place, tool in enumerate(tools):
        if takes_arguments(tool.parameters):
            lines[place] += f" Arguments: {msgspec.json.encode(tool.parameters).decode()}"
    return "\n".join(lines)
