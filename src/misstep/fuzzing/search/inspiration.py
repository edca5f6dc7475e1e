"""Generates ideas for calls: a fixed plan first, then from all sources in proportion to their success.

The plan has the calls that are most likely to find something soon.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest

from misstep.core.rng import Dice
from misstep.fuzzing.search.corpus import CallIdea, Calls, Corpus
from misstep.fuzzing.search.harvest import NamedValues
from misstep.fuzzing.search.mutation import mutated, spliced
from misstep.fuzzing.search.sequences import Sequences, Walks
from misstep.fuzzing.search.shares import Hazards, Shares
from misstep.fuzzing.search.subject import FuzzSubject, encode
from misstep.fuzzing.search.telling import every_input, neighbours, telling_arguments

_EARLY = 6  # telling calls per tool before repetitions
_EXAMPLES = 8
_FILES = 8  # per parameter that takes file names


def opening_plan(
    subjects: list[FuzzSubject], sequences: Sequences, telling: Iterator[CallIdea], corpus: Iterable[str]
) -> Iterator[CallIdea]:
    """The corpus of earlier runs, examples, simple calls, the most telling ones, life cycles, repetitions."""
    names = {subject.name for subject in subjects}
    for text in corpus:
        if calls := _read_calls(text, names):
            yield CallIdea(calls, "corpus")
    yield from _taking_turns([_first_calls(subject) for subject in subjects])
    yield from islice(telling, _EARLY * len(subjects))
    if len(subjects) > 1:
        for calls in sequences.lives():
            yield CallIdea(calls, "sequence")
    for subject in subjects:
        yield CallIdea(((subject.name, subject.simple),) * 2, "again", again=True)


def telling_plan(subjects: list[FuzzSubject]) -> Iterator[CallIdea]:
    """Telling arguments of all tools, taking turns."""
    return _taking_turns(
        [
            (CallIdea(((subject.name, each),), "telling") for each in telling_arguments(subject))
            for subject in subjects
        ]
    )


def _read_calls(text: str, names: set[str]) -> Calls:
    """The calls of a stored entry; empty if it is invalid or about other tools."""
    try:
        found = json.loads(text)
        calls = tuple((call["tool"], call["arguments"]) for call in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
    fitting = all(tool in names and isinstance(arguments, dict) for tool, arguments in calls)
    return calls if fitting else ()


def written_calls(calls: Calls) -> str:
    return encode([{"tool": tool, "arguments": arguments} for tool, arguments in calls])


def _first_calls(subject: FuzzSubject) -> Iterator[CallIdea]:
    for text in subject.described.examples[:_EXAMPLES]:
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            yield CallIdea(((subject.name, arguments),), "example", mark=True)
    yield CallIdea(((subject.name, subject.simple),), "simple", mark=True)
    yield CallIdea(((subject.name, subject.complete),), "simple", mark=True)
    if subject.described.kind == "mcp":
        for name, files in subject.files.items():
            for file in files[:_FILES] if name in subject.simple else ():
                yield CallIdea(((subject.name, {**subject.simple, name: file}),), "simple")


def _taking_turns(plans: Iterable[Iterator[CallIdea]]) -> Iterator[CallIdea]:
    return (idea for idea in chain.from_iterable(zip_longest(*plans)) if idea is not None)


_SHARES = {"telling": 0.45, "pool": 0.3, "mutation": 0.25}
_TOOLKIT, _STATEFUL, _STATELESS = 0.4, 0.25, 0.02  # shares of sequences
_WALKS = 0.15  # chance of a walk through a toolkit, which is as long as several other ideas
_REDRAWS = 4
_REPEATS = 3
_BOLDER, _BOLDEST = 4, 40  # wasted ideas per additional mutation, and their maximum
_FINITE_CALLS = 200  # for a tool with few possible inputs


class Inspiration:
    """Generates ideas for calls of one or several tools, and holds what they are generated from."""

    def __init__(self, subjects: list[FuzzSubject], kept: list[str], dice: Dice) -> None:
        self._subjects = subjects
        self._dice = dice
        self.corpus = Corpus()
        self.harvest = NamedValues()
        self.hazards = Hazards()
        self.stateful = len(subjects) > 1
        self._wasted = 0  # rejected ideas, less accepted ones
        self._sequences = Sequences({each.name: each for each in subjects}, self.corpus, self.harvest)
        self._shares = Shares({**_SHARES, "sequence": _TOOLKIT if self.stateful else _STATELESS}, floor=0.02)
        self._walks = Walks(subjects, self.harvest)
        self._telling = telling_plan(subjects)
        self._spaces = [every_input(subject) for subject in subjects]
        self.finite = all(space is not None for space in self._spaces)
        self._plan: Iterator[CallIdea] | None = self._first(kept)

    def next(self) -> CallIdea | None:
        if self._plan is not None:
            idea = next(self._plan, None)
            if idea is not None:
                return idea
            self._plan = None
        if len(self._subjects) > 1 and self._dice.chance(_WALKS):
            return CallIdea(self._walks.make(self._dice), "walk")
        if not self.finite:
            return self._from(self._shares.pick(self._dice))
        return self._from("sequence" if self.stateful and self._dice.chance(0.7) else "pool")

    def is_spent(self, asked: int) -> bool:
        """Whether a tool with few possible inputs has been tried enough."""
        return self.finite and self._plan is None and asked > _FINITE_CALLS * len(self._subjects)

    def threatens(self, idea: CallIdea) -> bool:
        return any(self.hazards.threaten(tool, arguments) for tool, arguments in idea.calls)

    def reward(self, idea: CallIdea, gain: float) -> None:
        self._wasted = max(self._wasted - 1, 0)
        self._shares.reward(idea.origin if idea.source is None else idea.source, gain)

    def waste(self, idea: CallIdea) -> None:
        self._wasted = min(self._wasted + 1, _BOLDEST)
        self._shares.waste(idea.origin if idea.source is None else idea.source)

    def suspect_state(self) -> None:
        """Assume from now on that calls affect later ones."""
        if not self.stateful:
            self.stateful = True
            self._shares.settle("sequence", _STATEFUL)

    def _first(self, kept: list[str]) -> Iterator[CallIdea]:
        yield from opening_plan(self._subjects, self._sequences, self._telling, kept)
        if self.finite:
            for subject, space in zip(self._subjects, self._spaces, strict=True):
                for arguments in space or ():
                    yield CallIdea(((subject.name, arguments),), "enumeration")
                yield from neighbours(subject)
            for subject in self._subjects:
                yield CallIdea(((subject.name, subject.simple),) * _REPEATS, "again", again=True)

    def _from(self, source: str) -> CallIdea | None:
        if source == "telling":
            idea = next(self._telling, None)
            if idea is not None:
                return idea
            self._shares.retire("telling")
        if source in ("telling", "pool"):
            return self._drawn()
        if source == "sequence":
            return CallIdea(self._sequences.make(self._dice), "sequence")
        return self._mutant()

    def _drawn(self) -> CallIdea:
        subject = self._dice.pick(self._subjects)
        drawn = subject.supply.draw(self._dice)
        for _ in range(_REDRAWS):
            if drawn.kind != "invalid" or self._dice.chance(0.1):
                break
            drawn = subject.supply.draw(self._dice)
        subject.remember(drawn.arguments)
        broken = (drawn.broken or "schema") if drawn.kind == "invalid" else ""
        return CallIdea(((subject.name, drawn.arguments),), drawn.origin, broken=broken, source="pool")

    def _mutant(self) -> CallIdea | None:
        """A call of the corpus, mutated or mixed with another one."""
        entry = self.corpus.pick(self._dice)
        if entry is None:
            return None
        *before, (tool, arguments) = entry.calls
        subject = next(each for each in self._subjects if each.name == tool)
        other = self.corpus.any(self._dice)
        if other is not None and other.calls[-1][0] == tool and self._dice.chance(0.15):
            changed = spliced(arguments, other.calls[-1][1], self._dice)
        else:
            changed = mutated(arguments, subject, self._dice, more=self._wasted // _BOLDER)
        return CallIdea((*before, (tool, changed)), "mutation")
