"""Contracts of the protocol: about tools that are not listed, cancelled calls, and calls at once.

The results of calls at once are compared with those of the same calls in either order, all from a fresh
start. Servers whose results differ from start to start, such as random ids, are not judged.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec.structs import replace

from misstep.core.tool import UNLISTED, Described, Invocation
from misstep.fuzzing.contracts.effects import TWO_WORDS, nearest, observers_in, worded
from misstep.fuzzing.contracts.steps import Breach, Calls, Experiments, Step, Toolkit, call_of
from misstep.fuzzing.judging.reading import find_error
from misstep.fuzzing.judging.wording import in_short
from misstep.fuzzing.search.sequences import is_known_to_read, stage_of

MOST_READERS, MOST_WRITERS = 8, 6  # tools that are called at once with themselves
MOST_HUNG = 3  # tools of which a call is timed out
MOST_WORDS = 4  # in a message
UNFLAGGED = "the call failed, but isError is not set, as if it had succeeded"
_BUSY = re.compile(
    r"\b(?:busy|locked|lock|in progress|in use|concurrent\w*|try again|retry|rate|conflict)\b", re.I
)
# What differs between two equal calls: times, and how long something took.
_TIMES = re.compile(
    r"(?:(?<![a-z])(?:(?:run|up|wall)?time|duration|elapsed|took|latency|(?:milli|micro|nano)?seconds)|[_ ]ms"
    r"|(?-i:(?<=[a-z])(?:Time|Duration|Elapsed|Latency|Seconds|Ms|MS)))\"?\s{0,3}[:=]\s{0,3}\d+(?:\.\d+)?"
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?Z?|\d\d:\d\d(?::\d\d)?|\d{10,}(?:\.\d+)?"
    r"|\d+(?:\.\d+)?(?: ?(?:[mµn]?s|(?:milli|micro)?sec(?:ond)?s?)\b)",
    re.IGNORECASE,
)


def experiments(kit: Toolkit) -> Experiments:
    """An unlisted tool, cancelled calls between equal looks, then calls at once; for servers only."""
    for server in dict.fromkeys(described.where for described in kit.tools.values()):
        yield from _unlisted(kit, server)
    tools = [name for name, described in kit.tools.items() if described.kind == "mcp" and kit.alone(name)]
    readers = [name for name in tools if stage_of(name) == 1]
    writers = [name for name in tools if stage_of(name) in (0, 2)]
    yield from _cancelled(kit, readers, writers)
    for name in readers[:MOST_READERS]:
        for one, another in pairwise(kit.alone(name)[:2]):
            yield from _beside_each_other(one, another)
    looks = observers_in(kit)
    for name in writers[:MOST_WRITERS]:
        for look in nearest(looks, kit.alone(name)[0])[:1]:
            yield from _in_all_orders(look, *_two_calls(kit, name))
    yield from _timed_out(kit, [*readers, *tools])


def _unlisted(kit: Toolkit, server: str) -> Experiments:
    """A call under another name, with arguments of the last tool, to which unknown names may lead."""
    tools = [name for name, each in kit.tools.items() if each.kind == "mcp" and each.where == server]
    tools = [name for name in tools if not re.search("[:/]", name)] or tools  # not prompts and resources
    known = [name for name in tools if kit.base(name) is not None] or tools
    for name in known[-1:]:
        yield (replace(call_of(name, kit.base(name) or {}), sent="unlisted"),)


def _cancelled(kit: Toolkit, readers: Sequence[str], writers: Sequence[str]) -> Experiments:
    """Cancelled calls between looks, until one is found that harms them."""
    for name in (*readers[:MOST_READERS], *writers[:MOST_WRITERS]) if readers else ():
        look, other = kit.alone(readers[0])[0], kit.alone(name)[0]
        steps = yield look, look, replace(other, sent="cancelled"), look
        if steps is not None and _harmed_by_cancelling(steps):
            return


def _timed_out(kit: Toolkit, tools: Sequence[str]) -> Experiments:
    """Calls that took too long, cancelled between looks; from a fresh start, since they may go on."""
    for name in list(kit.hung)[:MOST_HUNG]:
        looks = [kit.alone(tool)[0] for tool in tools if tool != name]
        for look in looks[:1]:
            first, (endless,) = replace(look, sent="afresh"), kit.hung[name]
            steps = yield first, look, replace(endless, sent="timed out"), look
            if steps is not None and _harmed_by_time_out(steps):
                return


def _beside_each_other(one: Invocation, other: Invocation) -> Experiments:
    """One after the other, then both at once; if that differs, with a control."""
    apart, at_once = (one, other), (replace(one, sent="together"), other)
    steps = yield (*apart, *at_once)
    if steps is None or [_settled(step) for step in steps[:2]] != [_settled(step) for step in steps[2:]]:
        yield (*apart, *apart, *at_once)


def _two_calls(kit: Toolkit, tool: str) -> Calls:
    """Two different calls, if possible: with other words, or those that say most."""
    known = kit.alone(tool)
    one, other = (worded(kit.tools[tool], known[0], word) for word in TWO_WORDS)
    return (one, other) if one != other else (*known, *known)[-2:]


def _in_all_orders(look: Invocation, one: Invocation, other: Invocation) -> Experiments:
    first, at_once = replace(look, sent="afresh"), replace(one, sent="together")
    yield (first, one, other, look, first, other, one, look, first, at_once, other, look)


def find_breach(steps: Sequence[Step]) -> Breach | None:
    if any(step.judged.ruling == "environment" for step in steps):
        return None
    return (
        _answered_unlisted(steps[-1])
        or _harmed_by_cancelling(steps)
        or _harmed_by_time_out(steps)
        or _mixed_up(steps)
        or _disordered(steps)
    )


def _answered_unlisted(step: Step) -> Breach | None:
    """Whether a call of a tool that the server does not list is no error."""
    if step.sent != "unlisted" or step.tool.kind != "mcp":
        return None
    if step.reaction.ended != "returned" or step.reaction.flagged:
        return None
    if (words := find_error(step.reaction.text, False)) is not None:  # as those of its other tools
        return Breach("error flag", step.name, "", f"{UNFLAGGED}: {in_short(words)}")
    said = f": {in_short(step.said)}" if step.said.strip() else ""
    effect = f"calling {UNLISTED!r}, which it does not list, succeeds{said}"
    return Breach("unlisted tool", step.name, "", effect)


def _harmed_by_cancelling(steps: Sequence[Step]) -> Breach | None:
    """Whether a call does not work any more after another one was cancelled."""
    if len(steps) < 4:
        return None
    first, second, cancelled, last = steps[-4:]
    if cancelled.sent != "cancelled" or not (last.repeats(first) and last.repeats(second)):
        return None
    if not (first.is_fine and second.is_fine):
        return None
    if "died" in (last.reaction.ended, cancelled.reaction.ended):
        how = "finds the server ended"
    elif last.reaction.ended == "hung":
        how = "is not answered"
    elif last.reaction.ended == "returned" and not last.is_fine:
        if not _only_reads(cancelled.tool) and "cancel" not in last.said.lower():
            return None
        how = f"fails: {in_short(last.said)}"
    else:
        return None
    effect = f"after a call of {cancelled.name} was cancelled, {last.name} {how}"
    return Breach("cancellation", last.name, "", effect)


def _only_reads(tool: Described) -> bool:
    """Whether it says that it reads: others may have changed what a later call needs."""
    return tool.promises.read_only or (tool.promises.read_only is None and is_known_to_read(tool.name))


def _harmed_by_time_out(steps: Sequence[Step]) -> Breach | None:
    """Whether nothing is answered after a call that took too long, and was cancelled for that."""
    if len(steps) < 4:
        return None
    first, second, endless, last = steps[-4:]
    if endless.sent != "timed out" or endless.reaction.ended != "returned" or endless.said:
        return None
    is_same = last.repeats(first) and last.repeats(second) and first.is_fine and second.is_fine
    if not is_same or last.reaction.ended not in ("hung", "died"):
        return None
    how = "is not answered" if last.reaction.ended == "hung" else "finds the server ended"
    effect = f"after a call of {endless.name} took too long and was cancelled, {last.name} {how}"
    return Breach("time-out", endless.name, "", effect)


def _mixed_up(steps: Sequence[Step]) -> Breach | None:
    """Whether two calls that only read, made at once, return something else than one after the other."""
    if len(steps) < 6:
        return None
    *before, one, other = steps[-6:]
    if one.sent != "together" or any(step.sent != "in turn" or not step.is_fine for step in before):
        return None
    pairs = before[:2], before[2:], (one, other)
    if one.repeats(other) or not all(map(Step.repeats, before, (one, other, one, other))):
        return None
    first, second, at_once = ([_settled(step) for step in pair] for pair in pairs)
    if first != second or first == at_once or _is_busy(pairs[2]):
        return None
    told = _differences(_words(pairs[0]), _words(pairs[2])) or "the replies are swapped"
    return Breach(
        "concurrency", other.name, "", f"two calls at once: compared with one after the other, {told}"
    )


def _disordered(steps: Sequence[Step]) -> Breach | None:
    """Whether two calls at once led to what neither order leads to."""
    runs = [steps[-12:-8], steps[-8:-4], steps[-4:]]
    if len(steps) < 12 or any(run[0].sent != "afresh" or not run[0].is_fine for run in runs):
        return None
    first, second, at_once = runs
    swapped = [second[place] for place in (0, 2, 1, 3)]
    is_same = all(map(Step.repeats, (*first, *swapped), (*at_once, *at_once)))
    if not is_same or at_once[1].sent != "together" or len({_settled(run[0]) for run in runs}) > 1:
        return None
    told = [_words(run) for run in runs]
    if not (first[1].is_fine and first[3].is_fine) or told[0] != told[1] or told[2] == told[0]:
        return None
    if _is_busy(at_once):
        return None
    effect = f"called twice at once: compared with either order, {_differences(told[0], told[2])}"
    return Breach("concurrency", at_once[1].name, "", effect)


def _settled(step: Step) -> str:
    return _TIMES.sub("…", f"{step.is_fine} {step.said}")


def _words(run: Sequence[Step]) -> Counter[str]:
    """The words in all results, which are the same in either order, unless they are random."""
    return Counter(word for step in run for word in re.findall(r"\w+", _settled(step)))


def _is_busy(steps: Sequence[Step]) -> bool:
    """Whether a server refuses calls at once, which it may."""
    return any(not step.is_fine and _BUSY.search(step.said) for step in steps)


def _differences(apart: Counter[str], at_once: Counter[str]) -> str:
    """What is missing in the results of calls at once, and what is new."""
    missing, new = _longest(apart - at_once), _longest(at_once - apart)
    told = (f"the results lack {missing}" if missing else "", f"they have {new}" if new else "")
    return in_short(" and ".join(filter(None, told)))


def _longest(words: Iterable[str]) -> str:
    """The longest of these words, which say most."""
    longest = sorted(set(words), key=lambda word: (-len(word), word))
    more = f" and {len(longest) - MOST_WORDS} more words" if len(longest) > MOST_WORDS else ""
    return ", ".join(map(repr, longest[:MOST_WORDS])) + more
