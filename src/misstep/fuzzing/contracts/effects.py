"""Contracts about what a call may change: nothing, nothing that is lost, nothing when repeated or refused."""

import json
from collections.abc import Iterator, Sequence

from misstep.core.tool import Described, FileChange, Invocation
from misstep.fuzzing.contracts.promises import Contract, promises_of
from misstep.fuzzing.contracts.steps import Breach, Calls, Step, Toolkit, call_of, parameters
from misstep.fuzzing.search.sequences import stage_of
from misstep.schemas.samples import words_of

MOST_CALLS = 6  # accepted calls of a tool that are tried
WORDS = ("harbour", "meadow")
FREE = {"type", "title", "description", "minLength"}  # keywords of a text that may be anything
STEM = 5  # letters by which words are compared: follow, followers
MOST_OBSERVERS = 3  # other tools whose results show what has changed
_NAMED = 3  # files in a message


def experiments(kit: Toolkit) -> Iterator[Calls]:
    """Each accepted call once, twice if that should change nothing more, and between looks at the rest."""
    observers = [
        calls
        for name in kit.tools
        if stage_of(name) == 1
        for calls in list(kit.accepted.get(name, ()))[:1]
        if len(calls) == 1
    ]
    for name, described in kit.tools.items():
        promised = {promise.contract for promise in promises_of(described)}
        for calls in list(kit.accepted.get(name, ()))[:MOST_CALLS] if promised else ():
            yield calls
            if "idempotent" in promised:
                yield (*calls, calls[-1])
            if "not destructive" in promised:
                yield (*calls[:-1], *(_worded(described, calls[-1], word) for word in WORDS))
        for calls in list(kit.accepted.get(name, ()))[:1] if promised else ():
            last = calls[-1:]
            for (look,) in _nearest(observers, name):
                if "read-only" in promised:
                    yield (*calls[:-1], look, look, *last, look)
                if "idempotent" in promised:
                    yield (*calls, look, look, *last, look)


def _worded(described: Described, call: Invocation, word: str) -> Invocation:
    """The call with a word for each free text, since only words can be missed."""
    given = json.loads(call.arguments)
    schemas = parameters(described)
    free = [name for name in given if schemas.get(name, {}).keys() <= FREE and isinstance(given[name], str)]
    return call_of(call.tool, {**given, **dict.fromkeys(free, word)})


def _nearest(observers: Sequence[Calls], name: str) -> list[Calls]:
    """Calls of other tools that read, those with a similar name first."""

    def distance(calls: Calls) -> int:
        return -len(_stems(name) & _stems(calls[0].tool))

    return sorted([calls for calls in observers if calls[0].tool != name], key=distance)[:MOST_OBSERVERS]


def _stems(name: str) -> set[str]:
    return {word[:STEM] for word in words_of(name)}


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """The promise that the last call broke, by the files that it changed or by what is read afterwards."""
    return _by_files(steps) or _by_results(steps)


def _by_files(steps: Sequence[Step]) -> Breach | None:
    last, changes = steps[-1], steps[-1].reaction.changes
    for promise in promises_of(last.tool) if changes else ():
        found = _unwanted(promise.contract, steps, changes)
        if found:
            effect = f"{_subject(promise.contract)} {_listed(found)}"
            return Breach(promise.contract, last.name, promise.words, effect)
    return None


def _unwanted(
    contract: Contract, steps: Sequence[Step], changes: Sequence[FileChange]
) -> Sequence[FileChange]:
    """The changes that a promise rules out."""
    last = steps[-1]
    match contract:
        case "read-only":
            return changes
        case "not destructive":
            return [change for change in changes if change.lost]
        case "idempotent" if len(steps) > 1 and last.repeats(steps[-2]) and steps[-2].is_fine:
            return changes
        case "all or nothing" if not last.is_fine:
            return changes
    return ()


def _subject(contract: Contract) -> str:
    match contract:
        case "idempotent":
            return "the same call again"
        case "all or nothing":
            return "a call that failed"
    return "the call"


def _listed(changes: Sequence[FileChange]) -> str:
    told = [f"{change.what} {change.path}" for change in changes[:_NAMED]]
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    return ", ".join(told) + more


def _by_results(steps: Sequence[Step]) -> Breach | None:
    """Whether a call between three equal looks changed what the last one shows."""
    if len(steps) < 4 or not steps[-1].is_fine:
        return None
    first, second, between, last = steps[-4:]
    if not (last.repeats(first) and last.repeats(second)) or between.name == last.name:
        return None
    if not (first.is_fine and second.is_fine and first.reaction.text == second.reaction.text):
        return None
    if last.reaction.text == second.reaction.text:
        return None
    is_again = any(step.repeats(between) and step.is_fine for step in steps[:-4])
    for promise in promises_of(between.tool):
        if promise.contract == "read-only" or (promise.contract == "idempotent" and is_again):
            again = " again" if promise.contract == "idempotent" else ""
            effect = f"after it is called{again}, {last.name} returns something else"
            return Breach(promise.contract, between.name, promise.words, effect)
    return None
