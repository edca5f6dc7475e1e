"""Puts calls into sequences that lead tools through their states."""

import re
from functools import cache
from typing import Any

from misstep.core.dice import Dice
from misstep.tooling.fuzzing.learning.corpus import Calls, Corpus, Entry
from misstep.tooling.fuzzing.learning.harvest import Harvest
from misstep.tooling.fuzzing.making.mutation import changed_value, mutated
from misstep.tooling.fuzzing.subject import Subject

LONGEST = 8

# Words in the names of tools that say in which part of something's life they have their place.
_STAGES = (
    "create add new insert write put set open start register make save upload push store init login append",
    "read get list find search show fetch view describe query load count status download head exists peek",
    "update edit move rename copy modify change patch replace transfer assign merge apply lock",
    "delete remove drop clear close stop end pop cancel reset destroy logout unregister discard purge",
)
_STAGE_OF = {word: stage for stage, words in enumerate(_STAGES) for word in words.split()}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@cache
def stage_of(name: str) -> int:
    """0 for tools that bring something about, 1 that look, 2 that change, 3 that take away."""
    found = (_STAGE_OF.get(word.lower()) for word in _WORD.findall(name))
    return next((stage for stage in found if stage is not None), 1)


class Sequences:
    """Makes sequences out of calls that are known to reach something, and of values that results brought."""

    def __init__(self, subjects: dict[str, Subject], corpus: Corpus, harvest: Harvest) -> None:
        self._subjects = subjects
        self._corpus = corpus
        self._harvest = harvest
        self._stages: list[list[Subject]] = [[], [], [], []]
        for subject in subjects.values():
            self._stages[stage_of(subject.name)].append(subject)

    def lives(self) -> list[Calls]:
        """For each thing that can be made: make, look, change, look, take away twice, look again."""
        makers, lookers, changers, takers = self._stages
        found = list[Calls]()
        for maker in makers[:6]:
            steps = [maker, *lookers[:2], *changers[:2], *takers[:1] * 2, *lookers[:1]]
            if len(steps) > 1:
                found.append(self._alike(steps[:LONGEST], maker.simple))
                found.append(
                    self._alike([maker, maker, *takers[:1], *lookers[:1], maker][:LONGEST], maker.complete)
                )
        for taker in takers[:4]:
            found.append(((taker.name, taker.simple),) * 2)
        return [calls for calls in found if len(calls) > 1]

    def make(self, dice: Dice) -> Calls:
        entry = self._corpus.pick(dice)
        if entry is None:
            return self._fresh(dice)
        way = dice.below(8)
        if way == 0:
            return self._fresh(dice)
        if way == 1:
            return self._again(entry, dice)
        if way == 2:
            return self._afterwards(dice)
        if way <= 4:
            return self._longer(entry, dice)
        if way == 5:
            return self._joined(entry, dice)
        return self._changed(entry, dice)

    def related(self, subject: Subject, before: Calls, dice: Dice) -> dict[str, Any]:
        """Arguments for a tool that take up what was given to earlier calls or came out of results."""
        arguments = dict(subject.simple)
        for parameter in subject.parameters:
            told = [given[parameter.name] for _, given in before if parameter.name in given]
            results = self._harvest.wanted(parameter)
            if results and (not told or dice.chance(0.5)):
                arguments[parameter.name] = results[-1] if dice.chance(0.5) else dice.pick(results)
            elif told and dice.chance(0.9):
                arguments[parameter.name] = told[-1]
            elif parameter.name in arguments and dice.chance(0.15):
                arguments[parameter.name] = changed_value(arguments[parameter.name], subject, dice)
        return arguments

    def _alike(self, steps: list[Subject], first: dict[str, Any]) -> Calls:
        """Calls that share the values of parameters with the same name."""
        given = dict(first)
        calls = list[tuple[str, dict[str, Any]]]()
        for subject in steps:
            arguments = {name: given.get(name, value) for name, value in subject.simple.items()}
            for name, value in arguments.items():
                given.setdefault(name, value)
            calls.append((subject.name, dict(first) if subject is steps[0] and not calls else arguments))
        return tuple(calls)

    def _fresh(self, dice: Dice) -> Calls:
        """A short life of something: a call that makes it, then others by their stages, more or less."""
        calls: Calls = ()
        subjects = list(self._subjects.values())
        for stage in range(2 + dice.below(LONGEST - 1)):
            fitting = self._stages[min(stage, 3)] if dice.chance(0.6) else subjects
            subject = dice.pick(fitting or subjects)
            calls = (*calls, (subject.name, self.related(subject, calls, dice)))
        return calls

    def _again(self, entry: Entry, dice: Dice) -> Calls:
        """The same several times over."""
        return (entry.calls * (2 + dice.below(3)))[:LONGEST]

    def _afterwards(self, dice: Dice) -> Calls:
        """Something is taken away, and then others are asked about the same thing."""
        subjects = list(self._subjects.values())
        taker = dice.pick(self._stages[3] or subjects)
        given = self.related(taker, (), dice)
        calls: Calls = ((taker.name, given),)
        concerned = [each for each in subjects if any(other.name in given for other in each.parameters)]
        for _ in range(1 + dice.below(2)):
            subject = dice.pick(concerned or subjects)
            same = {each.name: given[each.name] for each in subject.parameters if each.name in given}
            calls = (*calls, (subject.name, {**subject.simple, **same}))
        return calls

    def _longer(self, entry: Entry, dice: Dice) -> Calls:
        """Something more at the end, about the same things."""
        calls = entry.calls[-LONGEST + 2 :]
        for _ in range(1 + dice.below(2)):
            subject = dice.pick(list(self._subjects.values()))
            calls = (*calls, (subject.name, self.related(subject, calls, dice)))
        return calls

    def _joined(self, entry: Entry, dice: Dice) -> Calls:
        other = self._corpus.any(dice) or entry
        return (entry.calls + other.calls)[:LONGEST]

    def _changed(self, entry: Entry, dice: Dice) -> Calls:
        """One call left out, moved, or given other arguments."""
        calls = list(entry.calls)
        place = dice.below(len(calls))
        way = dice.below(4)
        if len(calls) > 2 and way == 0:
            del calls[place]
        elif len(calls) > 1 and way == 1:
            calls.insert(dice.below(len(calls)), calls.pop(place))
        else:
            tool, arguments = calls[place]
            calls[place] = (tool, mutated(arguments, self._subjects[tool], dice))
        return tuple(calls) if len(calls) > 1 else (*calls, calls[0])
