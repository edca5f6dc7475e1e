"""Contracts about things that tools write, read, list and delete.

Which tools belong together is guessed from names and parameters. Every experiment begins with a control: a
plain text that is read back as it was written, a name that is listed. Only tools that pass it can break a
contract.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from misstep.core.tool import Described
from misstep.fuzzing.contracts.promises import sentence_with
from misstep.fuzzing.contracts.steps import (
    DECLINES,
    Breach,
    Calls,
    Experiments,
    Step,
    Toolkit,
    call_of,
    listing_in_words,
    parameters,
    required,
    texts_in,
)
from misstep.fuzzing.search.sequences import stage_of
from misstep.schemas.samples import words_of

CONTROL = "first line\nsecond line"  # tools that show a text differently from how it was written fail here
A_NUMBER = "0012.50"
CONTENTS = (
    "one\r\ntwo\r\n",
    "  indented\n\n",
    "tab\tand trailing space ",
    "naïve café 漢字 😀",
    "<b>bold</b> &amp; 'quoted' \"twice\" \\n",
    A_NUMBER,
    "%s {name} $HOME ${x} #tag",
)
ALL_CONTENTS = "\n".join(("  indented", *CONTENTS, "ends in a blank "))
NAMES = ("alpha", "bravo")
_CONTENT_WORDS = frozenset(("content", "contents", "text", "body", "value", "data", "note", "markdown"))
_OTHER_LOOKS = "list search find count status exists info metadata stat head tail tree describe query log"
_NO_READERS = frozenset(_OTHER_LOOKS.split())
_LIST_WORDS = frozenset(("list", "all", "ls", "index"))


class Pair(NamedTuple):
    """A tool that writes a `content` and one that reads it back, with the parameters that name the thing."""

    writer: Described
    reader: Described
    content: str
    keys: tuple[str, ...]


def pairs(tools: Mapping[str, Described]) -> Iterator[Pair]:
    for writer in tools.values():
        content = _content(writer)
        if content is None or stage_of(writer.name) not in (0, 2):
            continue
        own = {name for name in parameters(writer) if name != content}
        for reader in tools.values():
            keys = tuple(required(reader))
            if keys and {*keys} <= own and _is_reader(reader) and _is_kin(writer, reader):
                yield Pair(writer, reader, content, keys)


def _content(described: Described) -> str | None:
    """The parameter that holds what is written."""
    for name, schema in parameters(described).items():
        is_text = schema.get("type") == "string" and "enum" not in schema
        if is_text and name in required(described) and {*words_of(name)[-1:]} & _CONTENT_WORDS:
            return name
    return None


def _is_reader(described: Described) -> bool:
    return stage_of(described.name) == 1 and not {*words_of(described.name)} & _NO_READERS


def _is_kin(one: Described, other: Described) -> bool:
    """Whether two names are about the same sort of thing, as in `write_note` and `read_note`."""
    return bool(_nouns(one) & _nouns(other)) or not (_nouns(one) and _nouns(other))


def _nouns(described: Described) -> set[str]:
    nouns = [word for word in words_of(described.name) if stage_of(word) == 1 and word not in _READING]
    return {noun.removesuffix("s") for noun in nouns}


_READING = frozenset(["read", "get", "show", "fetch", "view", "load", "open"])


def experiments(kit: Toolkit) -> Experiments:
    for pair in pairs(kit.tools):
        base = kit.base(pair.writer.name)
        if base is None or not all(isinstance(base.get(key), str) for key in pair.keys):
            continue
        one, other = (_renamed(base, pair.keys[-1], name) for name in NAMES)
        yield from _lists(kit, pair, one, other)  # first, since what is there already is listed as well
        yield from _read_backs(pair, one, other)
        yield from _deletions(kit, pair, one)
        yield from _others(kit, pair, one, other)


def _renamed(base: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
    """The arguments for another thing, with the folder and the ending of its name kept."""
    return {**base, key: re.sub(r"[^/\\.]+(?=(\.\w+)?$)", name, str(base[key]), count=1)}


def _write(pair: Pair, arguments: Mapping[str, Any], content: str) -> Calls:
    return (call_of(pair.writer.name, {**arguments, pair.content: content}),)


def _read(pair: Pair, arguments: Mapping[str, Any]) -> Calls:
    return (call_of(pair.reader.name, {key: arguments[key] for key in pair.keys}),)


def _read_backs(pair: Pair, one: Mapping[str, Any], other: Mapping[str, Any]) -> Experiments:
    """All contents in one text, then one by one if that is not read back; a number changes only alone."""
    control = (*_write(pair, one, CONTROL), *_read(pair, one))
    steps = yield (*control, *_write(pair, other, ALL_CONTENTS), *_read(pair, other))
    is_kept = steps is not None and steps[-1].is_fine and _shows(steps[-1], ALL_CONTENTS)
    for content in (A_NUMBER,) if is_kept else CONTENTS:
        steps = yield (*control, *_write(pair, other, content), *_read(pair, other))
        if steps and steps[-1].is_fine and not _shows(steps[-1], content):
            return


def _deletions(kit: Toolkit, pair: Pair, one: Mapping[str, Any]) -> Iterator[Calls]:
    for name, described in kit.tools.items():
        if stage_of(name) == 3 and {*required(described)} == {*pair.keys} and _is_kin(pair.writer, described):
            gone = call_of(name, {key: one[key] for key in pair.keys})
            yield (*_write(pair, one, CONTROL), *_read(pair, one), gone, *_read(pair, one))


def _lists(kit: Toolkit, pair: Pair, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Calls]:
    for name, described in kit.tools.items():
        is_list = bool({*words_of(name)} & _LIST_WORDS) and _is_kin(pair.writer, described)
        if not is_list or not {*required(described)} <= {*parameters(pair.writer)}:
            continue
        look = call_of(name, kit.base(name) or {key: one[key] for key in required(described)})
        yield (*_write(pair, one, CONTROL), look, *_write(pair, other, CONTROL), look)


def _others(kit: Toolkit, pair: Pair, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Calls]:
    """Change one thing between looks at another."""
    made = (*_write(pair, one, CONTROL), *_write(pair, other, "third line"))
    look = _read(pair, one)
    changers = [_write(pair, other, "fourth line")]
    for name, described in kit.tools.items():
        own = parameters(described)
        is_other = name != pair.writer.name and _is_kin(pair.writer, described)
        if is_other and stage_of(name) in (2, 3) and {*pair.keys} <= {*own}:
            given = {**(kit.base(name) or {}), **{key: other[key] for key in pair.keys}}
            content = _content(described)
            if content is not None:
                given = {content: "fourth line", **given}
            if {*required(described)} <= {*given}:
                changers.append((call_of(name, given),))
    for change in changers:
        yield (*made, *look, *look, *change, *look)


def find_breach(steps: Sequence[Step], tools: Mapping[str, Described]) -> Breach | None:
    if not steps[-1].is_fine:
        return _changed_another(steps)
    return (
        _not_read_back(steps, tools)
        or _not_deleted(steps)
        or _not_listed_once(steps)
        or _changed_another(steps)
    )


def _not_read_back(steps: Sequence[Step], tools: Mapping[str, Described]) -> Breach | None:
    """Whether something else is read than was written, although a plain text was read back before."""
    if len(steps) < 4:
        return None
    control_write, control_read, write, last = steps[-4:]
    for pair in pairs(tools):
        if not (_is_round_trip(control_write, control_read, pair) and _is_round_trip(write, last, pair)):
            continue
        written = write.arguments[pair.content]
        if not _shows(control_read, control_write.arguments[pair.content]) or "\n" not in str(
            control_write.arguments[pair.content]
        ):
            continue
        is_one = isinstance(written, str) and written.strip() and written != ALL_CONTENTS
        if is_one and not _shows(last, written):
            words = sentence_with(pair.reader, r"\b(?:contents?|text|value|data|note|body|read|get|return)")
            if words:
                effect = f"{written!r} was written by {pair.writer.name}, but {_short(last)} was read"
                return Breach("read back", last.name, words, effect)
    return None


def _is_round_trip(write: Step, read: Step, pair: Pair) -> bool:
    if not (write.is_fine and read.is_fine):
        return False
    if (write.name, read.name) != (pair.writer.name, pair.reader.name):
        return False
    return all(write.arguments.get(key) == read.arguments.get(key) for key in pair.keys)


def _shows(step: Step, text: Any) -> bool:
    return isinstance(text, str) and any(text in each for each in texts_in(step.reaction))


def _short(step: Step) -> str:
    text = step.reaction.text
    return repr(text if len(text) <= 120 else text[:119] + "…")


def _not_deleted(steps: Sequence[Step]) -> Breach | None:
    """Whether what was deleted in the step before the last is still read."""
    if len(steps) < 4:
        return None
    read, deletion, again = steps[-3:]
    if stage_of(deletion.name) != 3 or not (deletion.is_fine and read.is_fine and again.is_fine):
        return None
    if not again.repeats(read) or again.reaction.text != read.reaction.text:
        return None
    if not all(again.arguments.get(key) == value for key, value in deletion.arguments.items()):
        return None
    if stage_of(steps[-4].name) not in (0, 2) or not _shows(read, CONTROL):
        return None
    if DECLINES.search(deletion.said):
        return None
    words = sentence_with(deletion.tool, r"\b(?:delet|remov|destroy|drop|eras|discard|purg)")
    if not words:
        return None
    effect = f"it succeeded, but {again.name} still returns the same"
    return Breach("deleted", deletion.name, words, effect)


def _not_listed_once(steps: Sequence[Step]) -> Breach | None:
    if len(steps) < 4:
        return None
    write, look, write_again, last = steps[-4:]
    if not ({*words_of(last.name)} & _LIST_WORDS and last.repeats(look) and look.is_fine):
        return None
    if write.name != write_again.name or not (write.is_fine and write_again.is_fine):
        return None
    one, other = (_name_in(step.arguments) for step in (write, write_again))
    if not one or not other or one == other or _times(one, look) != 1 or _times(other, look):
        return None
    for name in (one, other):
        if (times := _times(name, last)) != 1:
            words = sentence_with(last.tool, r"\b(?:list|all|every|each|show|return)")
            if words:
                effect = listing_in_words(write.name, name, times)
                return Breach("listed once", last.name, words, effect)
    return None


def _name_in(arguments: Mapping[str, Any]) -> str:
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return next((name for name in NAMES for text in texts if name in text), "")


def _times(name: str, step: Step) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", step.reaction.text))


def _is_inside(one: Any, other: Any) -> bool:
    """Whether a path is inside of another one; an empty path is the folder that the tool works in."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    folder = posixpath.normpath(other)
    return folder in (".", "/") or posixpath.normpath(one).startswith(f"{folder}/")


def _changed_another(steps: Sequence[Step]) -> Breach | None:
    """Whether a call about one thing changed what is read of another."""
    if len(steps) < 5:
        return None
    *_, first, second, between, last = steps
    if stage_of(last.name) != 1 or not (last.repeats(first) and last.repeats(second)):
        return None
    if not (first.is_fine and second.is_fine and between.is_fine):
        return None
    if last.reaction.ended not in ("returned", "raised") or first.reaction.text != second.reaction.text:
        return None
    if last.is_fine and last.reaction.text == second.reaction.text:
        return None
    shared = [key for key in last.arguments if key in between.arguments]
    if not shared or any(last.arguments[key] == between.arguments[key] for key in shared[-1:]):
        return None
    named = between.arguments[shared[-1]]
    if _is_inside(named, last.arguments[shared[-1]]) or _is_inside(last.arguments[shared[-1]], named):
        return None
    words = sentence_with(between.tool, r"\w")
    told = "returns something else" if last.is_fine else "fails"
    effect = f"called for {named!r}, but afterwards {last.name} {told} for {last.arguments[shared[-1]]!r}"
    return Breach("nothing else", between.name, words, effect) if words else None
