"""Descriptions of tools that replace their own, and the TOML files that hold them."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from misstep.core.agent import Tool
from misstep.core.text import cut, quoted
from misstep.core.tool import Described
from misstep.errors import UsageError, did_you_mean

MOST_TEXT = 20_000  # characters per text
MOST_FILE = 1 << 20  # bytes
MOST_PARTS = 8  # more than any known key has
SHOWN = 100  # characters of a name in messages
EXPECTED = (
    'expected tables such as [tools.NAME] with description = "…", [tools.NAME.parameters] with start = "…"'
)
KEYS = ("description", "parameters")

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\r": "\\r"}
_LITERAL = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*''', re.DOTALL
)
_BETWEEN_KEYS = re.compile(r"[\n,={}]")
_CONTROL = re.compile(r'[\\"\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]')


class Wording(msgspec.Struct, frozen=True, omit_defaults=True):
    """The description of a tool and of some parameters; None keeps the tool's own description."""

    description: str | None = None
    parameters: dict[str, str] = {}

    @property
    def words(self) -> int:
        return sum(len(text.split()) for text in (self.description or "", *self.parameters.values()))

    @property
    def characters(self) -> int:
        return sum(map(len, (self.description or "", *self.parameters.values())))


Wordings: TypeAlias = Mapping[str, Wording]  # by tool name


def wording_of(tool: Tool) -> Wording:
    """The description that a tool gives itself."""
    properties = tool.parameters.get("properties", {})
    said = {name: each.get("description") for name, each in properties.items() if isinstance(each, dict)}
    return Wording(tool.description, {name: text for name, text in said.items() if isinstance(text, str)})


def reworded(described: Described, wordings: Wordings) -> Described:
    """The tool with its replacement description, if any. Raises `UsageError` for an unknown parameter."""
    wording = wordings.get(described.name)
    if wording is None:
        return described
    tool = described.tool
    properties = dict(tool.parameters.get("properties", {}))
    for name, text in wording.parameters.items():
        if name not in properties:
            hint = did_you_mean(name, properties) or f"it has {', '.join(properties) or 'none'}"
            message = f"the tool {quoted(tool.name)} has no parameter {quoted(name)}"
            raise UsageError(message, hint, where="--descriptions")
        own = properties[name]
        whole = own if isinstance(own, dict) else {} if own else {"not": {}}  # a boolean schema as an object
        properties[name] = {**whole, "description": text}
    said = tool.description if wording.description is None else wording.description
    anew = structs.replace(tool, description=said, parameters={**tool.parameters, "properties": properties})
    return structs.replace(described, tool=anew, is_reworded=True)


def refuse_unknown_tools(wordings: Wordings, known: Iterable[str]) -> None:
    names = list(known)
    for name in wordings:
        if name not in names:
            hint = did_you_mean(name, names) or f"there are {', '.join(names[:10])}"
            raise UsageError(f"there is no tool {quoted(name)}", hint, where="--descriptions")


def read_descriptions(path: str) -> dict[str, Wording]:
    """Read descriptions from a file; empty without a path. Raises `UsageError` for an invalid file."""
    return parse_descriptions(read_text(path), path) if path else {}


def read_text(path: str) -> str:
    """The text of a description file; empty without a path."""
    if not path:
        return ""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_FILE + 1)
        if len(data) > MOST_FILE:
            raise UsageError(f"is longer than {MOST_FILE:,} bytes", EXPECTED, where=path)
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError("can't be read as text", str(error), where=path) from error


def parse_descriptions(text: str, where: str) -> dict[str, Wording]:
    _refuse_long_keys(text, where)
    try:
        given = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        why = cut(str(error), SHOWN)
        raise UsageError("can't be read as descriptions of tools", why, EXPECTED, where=where) from error
    for key in given:
        if key != "tools":
            hints = did_you_mean(key, ["tools"]), EXPECTED
            raise UsageError(f"unknown key {quoted(key)}", *hints, where=where)
    tools = _table(given.get("tools", {}), "tools", where)
    return {name: _parse_wording(name, each, where) for name, each in tools.items()}


def _refuse_long_keys(text: str, where: str) -> None:
    """Raise `UsageError` for keys with many parts: parsing time grows with the square of their number."""
    blank = _LITERAL.sub(lambda literal: "\n" * literal[0].count("\n"), text)
    for number, line in enumerate(blank.split("\n"), 1):
        if any(each.count(".") >= MOST_PARTS for each in _BETWEEN_KEYS.split(line)):
            message = f"line {number} has a key of more than {MOST_PARTS} parts"
            raise UsageError(message, EXPECTED, where=where)


def write_descriptions(wordings: Wordings) -> str:
    """Format descriptions as such a file."""
    lines = list[str]()
    for name, wording in wordings.items():
        lines.append(f"[tools.{_key(name)}]")
        if wording.description is not None:
            lines.append(f"description = {_quoted(wording.description)}")
        if wording.parameters:
            lines += ["", f"[tools.{_key(name)}.parameters]"]
            lines += [f"{_key(each)} = {_quoted(text)}" for each, text in wording.parameters.items()]
        lines.append("")
    return "\n".join(lines)


def _parse_wording(name: str, given: object, where: str) -> Wording:
    place = f"tools.{cut(name, SHOWN)}"
    table = _table(given, place, where)
    for key in table:
        if key not in KEYS:
            message = f"unknown key {quoted(key)} in [{place}]"
            raise UsageError(message, did_you_mean(key, KEYS), f"known: {', '.join(KEYS)}", where=where)
    parameters = _table(table.get("parameters", {}), f"{place}.parameters", where)
    within = f"{place}.parameters"
    texts = {each: _text(said, f"{within}.{cut(each, SHOWN)}", where) for each, said in parameters.items()}
    said = _text(table["description"], f"{place}.description", where) if "description" in table else None
    return Wording(said, texts)


def _table(given: object, place: str, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise UsageError(f"{place} must be a table, not {_kind(given)}", EXPECTED, where=where)
    return given


def _kind(given: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(given), "a string" if isinstance(given, str) else "a time")


def _text(given: object, place: str, where: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{place} must be a string, not {_kind(given)}", "write it in quotes", where=where)
    if len(given) > MOST_TEXT:
        message = f"{place} has {len(given):,} characters"
        raise UsageError(message, f"at most {MOST_TEXT:,} can be offered to a model", where=where)
    return given


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else '"' + _escaped(name).replace("\n", "\\n") + '"'


def _quoted(text: str) -> str:
    return f'"""\n{_escaped(text)}"""' if "\n" in text else f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape text for a TOML string; characters that no file can hold are replaced."""

    def escape(found: re.Match[str]) -> str:
        char = found[0]
        return _ESCAPED.get(char) or ("\ufffd" if char >= "\ud800" else f"\\u{ord(char):04x}")

    return _CONTROL.sub(escape, text)
