"""Calls several tools about one and the same thing, in one order after the other."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from misstep.core.dice import Dice
from misstep.tooling.fuzzing.learning.corpus import Calls
from misstep.tooling.fuzzing.learning.harvest import Harvest
from misstep.tooling.fuzzing.making.sequences import LONGEST, stage_of
from misstep.tooling.fuzzing.subject import Parameter, Subject

WINDOW = 4  # calls in a row whose every order is to be tried
MOST_TOOLS = 6  # of one walk: the orders of more are too many


class Walks:
    """Sequences in which a parameter has one value throughout, and in which no order comes twice if it can.

    What a tool does may depend on what was done before to the same thing, without any new code being run on
    the way there.
    """

    def __init__(self, subjects: Sequence[Subject], harvest: Harvest) -> None:
        self._subjects = [each for each in subjects if each.parameters]
        if len(self._subjects) < 2:
            self._subjects = list(subjects)
        self._harvest = harvest
        names = Counter(each.name for subject in subjects for each in subject.parameters)
        self._shared = {name for name, times in names.items() if times > 1}
        self._seen: dict[bool, set[tuple[str, ...]]] = {False: set(), True: set()}
        self._made = 0

    def make(self, dice: Dice) -> Calls:
        few = len(self._subjects) <= MOST_TOOLS
        subjects = self._subjects if few else dice.sample(self._subjects, MOST_TOOLS)
        given = self._told(subjects, dice) if dice.chance(0.5) else {}
        steps = self._steps(subjects, bool(given), dice)
        self._made += 1
        for subject in steps:
            for parameter in subject.parameters:
                if parameter.name in self._shared and parameter.name not in given:
                    given[parameter.name] = self._own(parameter, subject, dice)
        return tuple((each.name, self._arguments(each, given)) for each in steps)

    def _told(self, subjects: Sequence[Subject], dice: Dice) -> dict[str, Any]:
        """Values that results have named for parameters that tools share, the latest as a rule."""
        told = dict[str, Any]()
        for parameter in (each for subject in subjects for each in subject.parameters):
            values = self._harvest.named(parameter) if parameter.name in self._shared else []
            if values and parameter.name not in told:
                told[parameter.name] = values[-1] if dice.chance(0.7) else dice.pick(values)
        return told

    def _steps(self, subjects: Sequence[Subject], told: bool, dice: Dice) -> list[Subject]:
        """Tools in an order with as many new windows as can be, mostly from one on that makes something."""
        makers = [each for each in subjects if stage_of(each.name) == 0]
        steps = [dice.pick(makers if makers and dice.chance(0.7) else list(subjects))]
        width, seen = min(WINDOW, len(subjects)), self._seen[told]
        while len(steps) < LONGEST:
            latest = steps[1 - width :] if width > 1 else []
            others = [each for each in subjects if each not in latest] or list(subjects)
            windows = {each: tuple(step.name for step in (*latest, each)) for each in others}
            fresh = [each for each in others if windows[each] not in seen]
            chosen = dice.pick(fresh or others)
            if len(windows[chosen]) == width:
                seen.add(windows[chosen])
            steps.append(chosen)
        return steps

    def _own(self, parameter: Parameter, subject: Subject, dice: Dice) -> Any:
        """A simple value, or one that no walk has had: what was done to it is what this one does."""
        simple = subject.complete.get(parameter.name)
        if parameter.choices or dice.chance(0.3):
            return simple
        fresh: Any = simple
        if isinstance(simple, str):
            fresh = f"{simple}{self._made}"
        elif isinstance(simple, int) and not isinstance(simple, bool):
            fresh = simple + self._made
        fits = subject.misfit({**subject.complete, parameter.name: fresh}) is None
        return fresh if fits else simple

    def _arguments(self, subject: Subject, given: dict[str, Any]) -> dict[str, Any]:
        names = [each.name for each in subject.parameters if each.required or each.name in subject.simple]
        return {**subject.simple, **{name: given[name] for name in names if name in given}}
