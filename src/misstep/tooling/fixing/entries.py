"""The sections of a docstring that tell of parameters."""

import re
from collections.abc import Mapping, Sequence

from misstep.core.docstring import begins_section, is_underlined
from misstep.tooling.fixing.literal import wrapped

DEEPER = "    "

_OF_PARAMETERS = re.compile(r"(args|arguments|parameters|params)\b", re.IGNORECASE)
_FIELD = re.compile(r"[:@]param\b")
_HEAD = re.compile(r"\s*[:@]param\s[^:]*:|\s*\*{0,2}\w+\s*(?:\([^)]*\))?\s*:")


def put_parameters(lines: Sequence[str], texts: Mapping[str, str], width: int) -> list[str]:
    """The sections with other texts for some parameters, each in the style that is there; others stay.

    `width` are the columns that stand before all lines.
    """
    made = list(lines)
    for name, text in texts.items():
        made = _put(made, name, text, width)
    return made


def _put(lines: list[str], name: str, text: str, width: int) -> list[str]:
    at = _entry_of(lines, name)
    if at is None:
        return _added(lines, name, text, width)
    deep = _depth(lines[at])
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _depth(lines[end]) > deep):
        if not lines[end].strip() and not _goes_on(lines, end, deep):
            break
        end += 1
    return [*lines[:at], *_entry(lines[at], text, width, _is_numpy(lines, at)), *lines[end:]]


def _entry(line: str, text: str, width: int, is_numpy: bool) -> list[str]:
    """An entry whose first line begins like this one."""
    indent = line[: _depth(line)]
    if is_numpy:
        return [line, *wrapped(f"{indent}{DEEPER}{text}", width, indent + DEEPER)]
    head = _HEAD.match(line)
    return wrapped(f"{head[0] if head else f'{line.rstrip()}:'} {text}", width, indent + DEEPER)


def _entry_of(lines: list[str], name: str) -> int | None:
    """The line with which the entry of a parameter begins."""
    inside = False
    entry = re.compile(rf"\s*\*{{0,2}}{re.escape(name)}\s*(?:\([^)]*\))?\s*(:.*)?")
    field = re.compile(rf"\s*[:@]param\s+(?:[^:]*\s)?\*{{0,2}}{re.escape(name)}\s*:.*")
    for at, line in enumerate(lines):
        if field.fullmatch(line):
            return at
        if begins_section(lines, at):
            inside = bool(_OF_PARAMETERS.match(line))
        elif inside and entry.fullmatch(line) and _is_at_depth(lines, at):
            return at
    return None


def _is_numpy(lines: list[str], at: int) -> bool:
    """Whether the section that a line stands in has a line under its heading."""
    headings = [place for place in range(at) if begins_section(lines, place)]
    return bool(headings) and not _FIELD.match(lines[at].strip()) and is_underlined(lines, headings[-1])


def _is_at_depth(lines: list[str], at: int) -> bool:
    """Whether a line stands as far in as the first entry of its section."""
    begin = max(place for place in range(at) if begins_section(lines, place))
    first = begin + (2 if is_underlined(lines, begin) else 1)
    entries = [line for line in lines[first : at + 1] if line.strip()]
    return _depth(lines[at]) <= _depth(entries[0])


def _added(lines: list[str], name: str, text: str, width: int) -> list[str]:
    """The sections with an entry more, at the end of those there are."""
    begin = next((at for at, line in enumerate(lines) if _begins_parameters(lines, at, line)), None)
    if begin is None:
        fields = [at for at, line in enumerate(lines) if _FIELD.match(line)]
        if fields:
            return [
                *lines[: fields[0]],
                *wrapped(f":param {name}: {text}", width, DEEPER),
                *lines[fields[0] :],
            ]
        section = ["Args:", *wrapped(f"{DEEPER}{name}: {text}", width, DEEPER * 2)]
        return [*section, *([""] if lines else []), *lines]
    if is_underlined(lines, begin):
        entry = [name, *wrapped(f"{DEEPER}{text}", width, DEEPER)]
        return [*lines[: begin + 2], *entry, *lines[begin + 2 :]]
    first = next((line for line in lines[begin + 1 :] if line.strip()), DEEPER)
    indent = first[: _depth(first)] or DEEPER
    entry = wrapped(f"{indent}{name}: {text}", width, indent + DEEPER)
    return [*lines[: begin + 1], *entry, *lines[begin + 1 :]]


def _begins_parameters(lines: list[str], at: int, line: str) -> bool:
    return begins_section(lines, at) and bool(_OF_PARAMETERS.match(line))


def _goes_on(lines: list[str], at: int, deep: int) -> bool:
    """Whether an entry goes on after an empty line."""
    after = next((line for line in lines[at:] if line.strip()), "")
    return bool(after) and _depth(after) > deep


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
