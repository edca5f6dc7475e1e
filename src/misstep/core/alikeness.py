"""Which failed sets of a tool look as if they had one cause."""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from misstep.core.consistency import PromptSet
from misstep.core.words import cut

SHOWN = 60  # characters of a pattern
NOT_CALLED = "whether the tool is called"

_VARIABLE = re.compile(r"\d+(?:[.,:]\d+)*|\"[^\"]*\"|'[^']*'")


class Group(msgspec.Struct, frozen=True):
    """Failed sets, by their ids, whose evidence differs in the same respect.

    That is an approximation: nobody can tell from outside whether two faults have one cause.
    """

    differs: str
    sets: tuple[str, ...]


def group_sets(sets: Iterable[PromptSet]) -> list[Group]:
    """The failed ones among some sets of one tool, the largest group first."""
    found = dict[str, list[str]]()
    for each in sets:
        if each.verdict == "failed":
            found.setdefault(_difference(each), []).append(each.id)
    groups = [Group(differs, tuple(ids)) for differs, ids in found.items()]
    return sorted(groups, key=lambda group: -len(group.sets))


def _difference(failed: PromptSet) -> str:
    """In what the two sides of the evidence differ: names of arguments, else the form of what came back."""
    evidence = failed.evidence
    if evidence is None or evidence.right is None:
        return f"output: {_pattern(evidence.wrong.outputs)}" if evidence else "nothing"
    wrong, right = (_calls(failed, side.number) for side in (evidence.wrong, evidence.right))
    if bool(wrong) != bool(right):
        return NOT_CALLED
    if len(wrong) != len(right):
        return "the number of calls"
    names = {name for one, other in zip(wrong, right, strict=True) for name in _differing(one, other)}
    if names:
        return f"arguments: {', '.join(sorted(names))}"
    patterns = sorted({_pattern(evidence.wrong.outputs), _pattern(evidence.right.outputs)})
    return f"output: {' / '.join(patterns)}"


def _calls(failed: PromptSet, number: int) -> list[dict[str, Any]]:
    """The arguments of the calls that a request led to: its agent had one tool."""
    uses = failed.trials[number - 1].uses if number <= len(failed.trials) else ()
    return [_object(use.arguments) for use in uses]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"": text}  # a secret in it was masked
    return value if isinstance(value, dict) else {"": value}


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    shared = {**one, **other}
    return [name for name in shared if _text(one, name) != _text(other, name)]


def _text(given: dict[str, Any], name: str) -> str | None:
    return json.dumps(given[name], sort_keys=True) if name in given else None


def _pattern(text: str) -> str:
    """What texts have in common that differ in numbers and in what is quoted."""
    return cut(_VARIABLE.sub("…", text), SHOWN)
