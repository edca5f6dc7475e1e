"""Contracts about what a call may change: nothing, nothing that is lost, nothing when repeated or refused."""

import json
import re
from collections.abc import Collection, Iterator, Sequence

from misstep.core.tool import AT_HOME, Described, FileChange, Invocation
from misstep.fuzzing.contracts.promises import Contract, promises_of, sentence_with
from misstep.fuzzing.contracts.steps import (
    Breach,
    Calls,
    Experiments,
    Step,
    Toolkit,
    call_of,
    parameters,
    required,
    stems_of,
)
from misstep.fuzzing.judging.wording import in_short
from misstep.fuzzing.search.sequences import stage_of
from misstep.schemas.samples import words_of

MOST_CALLS = 3  # accepted calls of a tool that are tried
TWO_WORDS = ("harbour", "meadow")
ODD_TEXTS = ("a\x0bb", "]]> & <b>")
MOST_TEXTS = 3  # parameters of a tool that get one of them
HIDING = frozenset(("move", "rename", "lock", "protect", "encrypt", "hide", "transfer", "replace"))
FREE = {"type", "title", "description", "minLength", "maxLength"}  # keywords of a text that may be anything
DATABASE = re.compile(r"\.(?:db3?|sqlite3?|duckdb|mdb)$", re.IGNORECASE)
PATH = re.compile(r"[/\\]|\.\w+$")
MOST_OBSERVERS = 2  # other tools whose results show what has changed
_NAMED = 3  # files in a message


def experiments(kit: Toolkit) -> Experiments:
    """Accepted calls, twice if that should change nothing more, and between looks at the rest."""
    observers = observers_in(kit)
    for name, described in kit.tools.items():
        promised = {promise.contract for promise in promises_of(described)}
        accepted = list(kit.accepted.get(name, ()))[:MOST_CALLS]
        for number, calls in enumerate(accepted):
            if promised & {"read-only", "not destructive"}:
                yield calls
            # The first call may create files that a tool keeps for itself; others shouldn't change them.
            if "idempotent" in promised or ("read-only" in promised and number == 0):
                yield (*calls, calls[-1])
            if "not destructive" in promised:
                yield (*calls[:-1], *(worded(described, calls[-1], word) for word in TWO_WORDS))
        for calls in list(kit.refused.get(name, ()))[:MOST_CALLS] if "all or nothing" in promised else ():
            for look in nearest(observers, calls[-1]):
                yield (*calls[:-1], look, look, calls[-1], look)
        for calls in accepted[:1]:
            looks = nearest(observers, calls[-1])
            for look in looks:
                if "closed world" in promised:
                    yield (*calls, look, calls[-1])
                if "read-only" in promised:
                    yield (*calls[:-1], look, look, calls[-1], look)
                if "idempotent" in promised:
                    yield (*calls, look, look, calls[-1], look)
            if "closed world" in promised and not looks:
                yield (*calls, calls[-1], calls[-1])
            if _changes(name):
                yield from _odd_changes(kit, calls, observers)


def _odd_changes(kit: Toolkit, calls: Calls, observers: Sequence[Invocation]) -> Experiments:
    """Texts that some formats of files can't hold: all together, or one by one if that is refused."""
    is_there = stage_of(calls[-1].tool) == 2  # what is changed can be read before
    looks = (*(_same_thing(kit, calls[-1]) if is_there else ()), *nearest(observers, calls[-1]))
    for look in looks[:1]:
        named = json.loads(look.arguments) if is_there else ()
        together, *single = _oddly_worded(kit.tools[calls[-1].tool], calls[-1], named)
        steps = yield (*calls[:-1], look, look, together, look)
        for each in single if steps and not steps[-2].is_fine else ():
            yield (*calls[:-1], look, look, each, look)


def observers_in(kit: Toolkit) -> list[Invocation]:
    """One call of each tool that reads."""
    return [call for name in kit.tools if stage_of(name) == 1 for call in kit.alone(name)[:1]]


def _changes(tool: str) -> bool:
    """Whether a tool changes something that is to be found in the same place afterwards."""
    return stage_of(tool) in (0, 2) and not {*words_of(tool)} & HIDING


def worded(described: Described, call: Invocation, word: str) -> Invocation:
    """The call with a word for each free text."""
    free = dict.fromkeys(_free_texts(described, call), word)
    return call_of(call.tool, {**json.loads(call.arguments), **free})


def _oddly_worded(described: Described, call: Invocation, named: Collection[str]) -> Iterator[Invocation]:
    """The call with odd free texts: in all parameters that don't name the thing, then in one of them."""
    given = json.loads(call.arguments)
    free = [name for name in _free_texts(described, call) if name not in named][-MOST_TEXTS:]
    yield call_of(call.tool, {**given, **dict.fromkeys(free, " ".join(ODD_TEXTS))})
    for name in free:
        for text in ODD_TEXTS:
            yield call_of(call.tool, {**given, name: text})


def _free_texts(described: Described, call: Invocation) -> list[str]:
    """The parameters that may be any text and name no file."""
    given, schemas = json.loads(call.arguments), parameters(described)
    texts = [name for name, value in given.items() if isinstance(value, str) and not PATH.search(value)]
    return [name for name in texts if schemas.get(name, {}).keys() <= FREE]


def _same_thing(kit: Toolkit, call: Invocation) -> list[Invocation]:
    """Calls that read what a call is about, by parameters of the same names."""
    given = json.loads(call.arguments)
    readers = [
        name
        for name, described in kit.tools.items()
        if stage_of(name) == 1 and required(described) and {*required(described)} <= given.keys()
    ]
    readers.sort(key=lambda name: -len(stems_of(name) & stems_of(call.tool)))
    wanted = {name: required(kit.tools[name]) for name in readers[:1]}
    return [call_of(name, {key: given[key] for key in keys}) for name, keys in wanted.items()]


def nearest(looks: Sequence[Invocation], call: Invocation) -> list[Invocation]:
    """Calls of other tools that read, those about the same things first, then those with a similar name."""
    given = set(json.loads(call.arguments).items() if _is_flat(call) else ())

    def distance(look: Invocation) -> tuple[int, int]:
        shared = given & set(json.loads(look.arguments).items()) if _is_flat(look) else set()
        return -len(shared), -len(stems_of(call.tool) & stems_of(look.tool))

    return sorted([look for look in looks if look.tool != call.tool], key=distance)[:MOST_OBSERVERS]


def _is_flat(call: Invocation) -> bool:
    return all(not isinstance(value, list | dict) for value in json.loads(call.arguments).values())


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """The promise that the last call broke, by the files that it changed or by what is read afterwards."""
    return _by_files(steps) or _by_network(steps) or _by_results(steps) or _spoilt(steps)


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
            return _beyond_set_up(changes)
        case "not destructive":
            return [change for change in changes if change.lost]
        case "idempotent" if len(steps) > 1 and last.repeats(steps[-2]) and steps[-2].is_fine:
            return _telling(changes)
        case "all or nothing" if not last.is_fine:
            return _beyond_set_up(_telling(changes))
    return ()


def _telling(changes: Sequence[FileChange]) -> Sequence[FileChange]:
    """Without changes in databases, whose bytes may differ while what they hold is the same."""
    return [each for each in changes if each.what != "changed" or not DATABASE.search(each.path)]


def _beyond_set_up(changes: Sequence[FileChange]) -> Sequence[FileChange]:
    """Without files made at home, and without databases there, which servers also keep for themselves."""
    telling = _telling([each for each in changes if each.what != "created"])
    return [each for each in changes if not each.path.startswith(AT_HOME) or each in telling]


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


def _by_network(steps: Sequence[Step]) -> Breach | None:
    """Whether a call tries to reach the network each time, and another tool's call between does not.

    Without another tool, it is called three times. Nothing may be tried while nothing is called.
    """
    if len(steps) < 3 or not steps[-1].repeats(steps[-3]):
        return None
    first, between, last = steps[-3:]
    if not all(step.is_fine and step.reaction.connections for step in (first, last)):
        return None
    has_tried = between.reaction.connections > 0
    is_control = (has_tried and between.repeats(last)) if between.name == last.name else not has_tried
    if not is_control or any(step.reaction.background for step in steps[-3:]):
        return None
    promises = [each for each in promises_of(last.tool) if each.contract == "closed world"]
    effect = "every call tries to reach the network"
    return Breach("closed world", last.name, promises[0].words, effect) if promises else None


def _by_results(steps: Sequence[Step]) -> Breach | None:
    """Whether a call between three equal looks changed what the last one shows."""
    if not _is_between_looks(steps) or not steps[-1].is_fine:
        return None
    _, second, between, last = steps[-4:]
    if last.reaction.text == second.reaction.text:
        return None
    is_again = any(step.repeats(between) and step.is_fine for step in steps[:-4])
    when: dict[Contract, str] = {"read-only": "after it is called"}
    when |= {"idempotent": "after it is called again"} if is_again else {}
    when |= {"all or nothing": "after a call that failed"} if between.judged.was_refused else {}
    for promise in promises_of(between.tool):
        if promise.contract in when:
            effect = f"{when[promise.contract]}, {last.name} returns something else"
            return Breach(promise.contract, between.name, promise.words, effect)
    return None


def _is_between_looks(steps: Sequence[Step]) -> bool:
    """Whether the last four calls are two equal looks, another call, and the same look again."""
    if len(steps) < 4:
        return False
    first, second, between, last = steps[-4:]
    is_same = last.repeats(first) and last.repeats(second) and between.name != last.name
    is_steady = first.is_fine and second.is_fine and first.reaction.text == second.reaction.text
    return is_same and is_steady


def _spoilt(steps: Sequence[Step]) -> Breach | None:
    """Whether a call succeeded, but what could be read before it can't be read any more."""
    if not _is_between_looks(steps) or steps[-1].is_fine:
        return None
    between, last = steps[-2:]
    if last.reaction.ended not in ("returned", "raised") or not between.is_fine or not _changes(between.name):
        return None
    words = sentence_with(between.tool, r"\w")
    effect = f"it succeeded, but then {last.name} fails: {in_short(last.said)}"
    return Breach("still readable", between.name, words, effect) if words else None
