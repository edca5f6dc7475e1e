"""What could be behind a failure, and how often the agent would then fail on what."""

from collections.abc import Hashable
from typing import TypeAlias

import msgspec

from misstep.core.diagnosis import Cause
from misstep.planning.dissection.rates import Beta, Rate
from misstep.planning.variation.elements import Element

# What a run was about: the elements of the failed case that were in it.
Condition: TypeAlias = frozenset[Element]

# In every variant that demands just what the failed case does.
SAME_DEMANDS = Element("constraint", "these constraints")

# Half of all faults strike always or nearly so, the others more often than not.
STRENGTH: Rate = (Beta(60, 1, 0.5), Beta(6, 3, 0.5))
# What an agent fails on for reasons that have nothing to do with the guilty element.
NOISE: Rate = (Beta(1, 19),)
# Any rate, high ones less likely: who fails nearly always doesn't do so by chance.
CHANCE: Rate = (Beta(1, 2),)
ALWAYS: Rate = (Beta(60, 1),)
ANYTHING: Rate = (Beta(1, 1),)
OTHERWISE: Rate = (Beta(1, 19, 0.5), Beta(1, 1, 0.5))


class Guilty(msgspec.Struct, frozen=True):
    """One element is at fault: the agent fails where it is, at some strength, and hardly ever where it isn't."""

    element: Element

    @property
    def cause(self) -> Cause:
        return self.element.cause

    def group(self, condition: Condition) -> Hashable:
        return self.element in condition

    def rate(self, group: Hashable) -> Rate:
        return STRENGTH if group else NOISE


class Whole(msgspec.Struct, frozen=True):
    """All the demands together are too much, however they are put; others may be or not."""

    @property
    def cause(self) -> Cause:
        return "constraint"

    def group(self, condition: Condition) -> Hashable:
        return SAME_DEMANDS in condition

    def rate(self, group: Hashable) -> Rate:
        return STRENGTH if group else OTHERWISE


class Coin(msgspec.Struct, frozen=True):
    """The agent fails at one rate, whatever it is given."""

    @property
    def cause(self) -> Cause:
        return "probability"

    def group(self, condition: Condition) -> Hashable:
        return True

    def rate(self, group: Hashable) -> Rate:
        return CHANCE


class Hopeless(msgspec.Struct, frozen=True):
    """The agent fails always or nearly so, whatever the words, the topic and the sentences."""

    @property
    def cause(self) -> Cause:
        return "constraint"

    def group(self, condition: Condition) -> Hashable:
        return True

    def rate(self, group: Hashable) -> Rate:
        return ALWAYS


class Several(msgspec.Struct, frozen=True):
    """None of the others: each combination of kinds that were left as they were has a rate of its own."""

    elements: frozenset[Element]

    @property
    def cause(self) -> Cause:
        return "undetermined"

    def group(self, condition: Condition) -> Hashable:
        return frozenset([element.cause for element in self.elements - condition])

    def rate(self, group: Hashable) -> Rate:
        return ANYTHING


Hypothesis: TypeAlias = Guilty | Whole | Coin | Hopeless | Several

# Of all failures, before anything is known about one; the causes share the rest evenly.
_SEVERAL = 0.02
# Of the failures that constraints cause: those of an agent that fails on everything.
_HOPELESS = 0.4


def hypotheses(elements: frozenset[Element]) -> dict[Hypothesis, float]:
    """Every hypothesis about the failure of a case with these elements, with its prior.

    All causes that are possible are equally likely; each is split evenly over its elements.
    """
    suspects: dict[Cause, list[Hypothesis]] = {"constraint": [Whole()]}
    for element in sorted(elements, key=lambda element: (element.cause, element.name)):
        suspects.setdefault(element.cause, []).append(Guilty(element))
    share = (1 - _SEVERAL) / (len(suspects) + 1)
    priors: dict[Hypothesis, float] = {Coin(): share, Several(elements | {SAME_DEMANDS}): _SEVERAL}
    for cause, named in suspects.items():
        kept = share * (1 - _HOPELESS) if cause == "constraint" else share
        priors |= dict.fromkeys(named, kept / len(named))
    return priors | {Hopeless(): share * _HOPELESS}
