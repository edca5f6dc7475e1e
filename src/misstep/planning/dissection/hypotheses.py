"""Hypotheses about a failure, and Bayesian beliefs in them, updated run by run.

Each predicts how often the agent fails under which conditions. Failure rates are mixtures of Beta
distributions, updated by runs and by other cases of the same run.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import exp, lgamma, log
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import msgspec

from misstep.core.outcome import Outcome
from misstep.core.results.diagnosis import CAUSES, Cause
from misstep.errors import UsageError
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of


class Beta(msgspec.Struct, frozen=True):
    """A distribution of a failure rate, with pseudo-counts of failures and passes."""

    failed: float
    passed: float
    weight: float = 1.0


Rate = tuple[Beta, ...]  # a mixture; the weights add up to 1


def log_marginal(rate: Rate, failed: float, passed: float) -> float:
    """The log-probability of this many failures and passes in a given order."""
    most, weights = _weights(rate, failed, passed)
    return most + log(sum(weights))


def expected(rate: Rate, failed: float, passed: float) -> float:
    """The probability that the next run fails, after this many failures and passes."""
    if len(rate) == 1:
        return _mean(rate[0], failed, passed)
    _, weights = _weights(rate, failed, passed)
    means = [_mean(part, failed, passed) for part in rate]
    return sum([w * mean for w, mean in zip(weights, means, strict=True)]) / sum(weights)


def _mean(part: Beta, failed: float, passed: float) -> float:
    return (part.failed + failed) / (part.failed + part.passed + failed + passed)


def _weights(rate: Rate, failed: float, passed: float) -> tuple[float, list[float]]:
    """The Beta-binomial likelihoods of the parts: the logarithm of the largest, and ratios to it."""
    evidence = [
        log(part.weight)
        + (_log_beta(part.failed + failed, part.passed + passed) - _log_beta(part.failed, part.passed))
        for part in rate
    ]
    most = max(evidence)
    return most, [exp(each - most) for each in evidence]


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


Record = tuple[int, int]  # numbers of failed and passed cases


class ElementHistory:
    """The judged cases of a run, counted by the elements in them; no case is stored."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._failed, self._passed = Counter[Element | None](), Counter[Element | None]()
        counters = {"failed": self._failed, "passed": self._passed}
        for outcome in outcomes:
            counter = counters.get(outcome.verdict.verdict)
            if counter is not None:
                with suppress(UsageError):  # not written in misstep's language
                    counter.update((None, *elements_of(take_apart(outcome.case))))

    def record(self, element: Element | None = None) -> Record:
        """Counts of the cases with an element, or of all, without the case under investigation."""
        return max(0, self._failed[element] - 1), self._passed[element]


class RequestText(msgspec.Struct, frozen=True):
    text: str


# What a run contained: elements of the failed case and, if known, the request.
Condition: TypeAlias = frozenset[Element | RequestText]

# In every run whose constraints are equivalent to those of the failed case.
SAME_DEMANDS = Element("constraint", "the same constraints")


# Prior failure rates. With the guilty element: half of all faults occur always or nearly so, the others
# mostly.
STRENGTH: Rate = (Beta(60, 1, 0.5), Beta(6, 3, 0.5))
NOISE: Rate = (Beta(1, 19),)  # without the guilty element
# If the agent fails by chance: at any rate, but one that nearly always fails does not do so by chance.
CHANCE: Rate = (Beta(1, 2),)
ALWAYS: Rate = (Beta(60, 1),)  # on problems that are too much for it
# On other problems, if all demands together are too much.
OTHERWISE: Rate = (Beta(1, 19, 0.5), Beta(1, 1, 0.5))
ANYTHING: Rate = (Beta(1, 1),)  # if nothing else explains the failure
# On one request, if requests matter in an unknown way: mostly always or never.
ERRATIC: Rate = (Beta(60, 1, 0.4), Beta(1, 60, 0.4), Beta(1, 1, 0.2))

# In other cases of the same run: with the guilty element, which need not have an effect there, and without
# it, since an agent may have several faults.
ELSEWHERE: Rate = (Beta(20, 1, 0.3), Beta(3, 2, 0.7))
OTHERS: Rate = (Beta(1, 19, 0.6), Beta(1, 3, 0.4))

# Priors. Of all failures; the causes share the rest evenly.
_SEVERAL = 0.02
_FRAGILE = 0.1
_COIN = 0.2
# Of the failures that constraints cause; shapes and families share the rest evenly.
_HOPELESS = 0.3
_WHOLE = 0.1


class Guilty(msgspec.Struct, frozen=True):
    """One element is at fault: the agent fails where it occurs, at some rate, and hardly ever elsewhere."""

    element: Element

    @property
    def cause(self) -> Cause:
        return self.element.cause

    def group(self, condition: Condition) -> Hashable:
        """Runs in one group fail at one rate."""
        return self.element in condition

    def rate(self, group: Hashable) -> Rate:
        return STRENGTH if group is True else NOISE


class AllDemands(msgspec.Struct, frozen=True):
    """All demands together are too much, however they are worded; other demands may be too, or not."""

    cause: ClassVar[Cause] = "constraint"

    def group(self, condition: Condition) -> Hashable:
        return SAME_DEMANDS in condition

    def rate(self, group: Hashable) -> Rate:
        return ALWAYS if group is True else OTHERWISE


class Hopeless(msgspec.Struct, frozen=True):
    """The agent nearly always fails, whatever the words, the topic, the sentences and the demands."""

    cause: ClassVar[Cause] = "constraint"

    def group(self, _: Condition) -> Hashable:
        return True

    def rate(self, _: Hashable) -> Rate:
        return ALWAYS


class ConstantRate(msgspec.Struct, frozen=True):
    """The agent fails at a constant rate, whatever it is given."""

    cause: ClassVar[Cause] = "probability"

    def group(self, _: Condition) -> Hashable:
        return True

    def rate(self, _: Hashable) -> Rate:
        return CHANCE


class Several(msgspec.Struct, frozen=True):
    """None of the others: the rate differs for every combination of kinds that were changed."""

    elements: Condition
    cause: ClassVar[Cause] = "undetermined"

    def group(self, condition: Condition) -> Hashable:
        return frozenset(
            [element.cause for element in self.elements - condition if isinstance(element, Element)]
        )

    def rate(self, _: Hashable) -> Rate:
        return ANYTHING


class Fragile(msgspec.Struct, frozen=True):
    """None of the others: on each request the agent nearly always passes or fails, by an unknown rule."""

    cause: ClassVar[Cause] = "undetermined"

    def group(self, condition: Condition) -> Hashable:
        return next((each for each in condition if isinstance(each, RequestText)), None)

    def rate(self, _: Hashable) -> Rate:
        return ERRATIC


Hypothesis: TypeAlias = Guilty | AllDemands | Hopeless | ConstantRate | Several | Fragile


def hypotheses(elements: frozenset[Element]) -> dict[Hypothesis, float]:
    """Every hypothesis about the failure of a case with these elements, with its prior.

    All possible causes are equally likely; each is split evenly over its elements. If no shape and no family
    can be left out, all demands together can't be told from a size.
    """
    suspects: dict[Cause, list[Hypothesis]] = {"constraint": []}
    for element in sorted(elements, key=lambda element: (element.cause, element.name)):
        suspects.setdefault(element.cause, []).append(Guilty(element))
    share = (1 - _SEVERAL - _FRAGILE - _COIN) / len(suspects)
    hopeless = _HOPELESS
    whole = _WHOLE if suspects["constraint"] else 1 - _HOPELESS
    if not suspects["constraint"] and "size" in suspects:
        whole, hopeless = 0.0, 1.0
    priors: dict[Hypothesis, float] = {
        ConstantRate(): _COIN,
        AllDemands(): share * whole,
        Hopeless(): share * hopeless,
        Several(elements | {SAME_DEMANDS}): _SEVERAL,
        Fragile(): _FRAGILE,
    }
    for cause, named in suspects.items():
        left = share * (1 - hopeless - whole) if cause == "constraint" else share
        priors |= dict.fromkeys(named, left / max(1, len(named)))
    return priors


# Limits on the log-evidence of the earlier run for and against a suspect: it tells where to look first.
_FOR = 4.0
_AGAINST = -7.0
_MOST_EARLIER = 10  # maximum number of runs that the earlier run counts for in the failure rate by chance

NOWHERE: Mapping[Element, float] = MappingProxyType({})


class Beliefs:
    """The posterior over all hypotheses, given that the case failed once and the results of other runs.

    The first failure is the reason for the investigation, so it is not evidence for one cause against
    another: the priors are those of the causes of failures. But it was observed, so it counts in each
    hypothesis's rates. All rates have conjugate priors, and the product of a hypothesis's predictions for
    successive runs is its marginal likelihood. Other cases of the run in which it failed make suspects more
    likely if cases with them failed, and less likely if they passed, and tell how often the agent fails if it
    does so by chance. `original` is what the case itself contains.
    """

    def __init__(
        self,
        elements: frozenset[Element],
        original: Condition | None = None,
        history: ElementHistory | None = None,
    ) -> None:
        self.original: Condition = original or elements | {SAME_DEMANDS}
        self.weights = hypotheses(elements)
        self._seen: dict[Hypothesis, dict[Hashable, tuple[float, float]]] = {
            hypothesis: {hypothesis.group(self.original): (1, 0)} for hypothesis in self.weights
        }
        self._recall(history or ElementHistory())
        self._forget()

    def causes(self) -> dict[Cause, float]:
        found = dict.fromkeys(CAUSES, 0.0)
        for hypothesis, weight in self.weights.items():
            found[hypothesis.cause] += weight
        return found

    def observe(self, condition: Condition, failed: bool, places: Mapping[Element, float] = NOWHERE) -> None:
        """Update with a result; `places` says how much likelier an element makes where a failure shows."""
        for hypothesis, weight in self.weights.items():
            rate = self._predict(hypothesis, condition)
            shown = places.get(hypothesis.element, 1.0) if isinstance(hypothesis, Guilty) else 1.0
            self.weights[hypothesis] = weight * (rate * shown if failed else 1 - rate)
            group = hypothesis.group(condition)
            before = self._seen[hypothesis].get(group, (0, 0))
            self._seen[hypothesis][group] = (before[0] + failed, before[1] + (not failed))
        self._normalise()
        self._forget()

    def _recall(self, history: ElementHistory) -> None:
        """Use other cases as evidence, with limited weight: they differ from this one in unknown ways."""
        failed, passed = history.record()
        otherwise = log_marginal(OTHERS, failed, passed)
        everywhere = {
            ConstantRate(): log_marginal(CHANCE, failed, passed) - otherwise,
            Hopeless(): log_marginal(ALWAYS, failed, passed) - otherwise,
        }
        too_much = max(0.0, max(everywhere.values()) - _FOR)
        for hypothesis in self.weights:
            match hypothesis:
                case Guilty(element):
                    with_it = history.record(element)
                    seen = log_marginal(ELSEWHERE, *with_it)
                    seen += log_marginal(OTHERS, failed - with_it[0], passed - with_it[1]) - otherwise
                case ConstantRate() | Hopeless():
                    seen = everywhere[hypothesis] - too_much
                case _:
                    seen = 0.0
            self.weights[hypothesis] *= exp(max(_AGAINST, min(_FOR, seen)))
        share = min(1.0, _MOST_EARLIER / max(1.0, failed + passed))
        self._seen[ConstantRate()][True] = (1 + share * failed, share * passed)
        self._normalise()

    def _normalise(self) -> None:
        total = sum(self.weights.values())
        self.weights = {hypothesis: weight / total for hypothesis, weight in self.weights.items()}

    def gain(self, condition: Condition) -> tuple[float, float]:
        """The expected information of a run, in nats: about the cause, and about the exact hypothesis.

        Where a failure would show is not taken into account.
        """
        failing, passing = list[float](), list[float]()
        by_cause = {cause: [0.0, 0.0] for cause in CAUSES}
        for hypothesis, weight in self.weights.items():
            fails = weight * self._predict(hypothesis, condition)
            failing.append(fails)
            passing.append(weight - fails)
            sums = by_cause[hypothesis.cause]
            sums[0] += fails
            sums[1] += weight - fails
        causes_after = sum([_entropy(side) for side in zip(*by_cause.values(), strict=True)])
        return self._open_causes - causes_after, self._open - _entropy(failing) - _entropy(passing)

    def _predict(self, hypothesis: Hypothesis, condition: Condition) -> float:
        """The probability that a run under the condition fails, if the hypothesis holds."""
        group, known = hypothesis.group(condition), self._predicted[hypothesis]
        if group not in known:
            known[group] = expected(hypothesis.rate(group), *self._seen[hypothesis].get(group, (0, 0)))
        return known[group]

    def _forget(self) -> None:
        self._predicted: dict[Hypothesis, dict[Hashable, float]] = {each: {} for each in self.weights}
        self._open_causes = _entropy([*self.causes().values()])
        self._open = _entropy([*self.weights.values()])


def _entropy(masses: Sequence[float]) -> float:
    """Entropy in nats, times the sum of the masses."""
    total = sum(masses)
    return (total * log(total) if total else 0.0) - sum([mass * log(mass) for mass in masses if mass > 0])
