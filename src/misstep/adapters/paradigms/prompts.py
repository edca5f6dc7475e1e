"""The words that our own agents put round a request, out of template files."""

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from misstep.adapters.arguments import takes_arguments
from misstep.core.agent import Tool
from misstep.errors import UsageError, did_you_mean

PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Template(msgspec.Struct, frozen=True):
    """A text with places such as `{{request}}`."""

    text: str

    def fill(self, **values: str) -> str:
        """The text with every place filled; what is filled in is not looked into again."""
        return PLACE.sub(lambda match: values[match[1]], self.text)


def load_template(shipped: str, own_file: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """The user's own template or the one that comes with misstep, its places checked."""
    where = own_file or f"{shipped}.txt"
    text = _read(own_file) if own_file else _shipped(shipped)
    places = PLACE.findall(text)
    for place in places:
        if place not in known:
            hint = f"known places: {', '.join(f'{{{{{name}}}}}' for name in known)}"
            raise UsageError(f"unknown place {{{{{place}}}}}", hint, did_you_mean(place, known), where=where)
    for place in needed:
        if place not in places:
            raise UsageError(f"there is no {{{{{place}}}}} in it", "say where it is to stand", where=where)
    return Template(text)


def list_tools(tools: Sequence[Tool]) -> str:
    """One line per tool, with its arguments if it takes any."""
    return "\n".join(f"- {tool.name}: {tool.description}{_arguments(tool)}" for tool in tools)


def _arguments(tool: Tool) -> str:
    if not takes_arguments(tool.parameters):
        return ""
    return f" Arguments: {msgspec.json.encode(tool.parameters).decode()}"


def _shipped(name: str) -> str:
    return (files("misstep.adapters.paradigms") / "data" / f"{name}.txt").read_text("utf-8")


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("can't be read", str(error), where=path) from error
