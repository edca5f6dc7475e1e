"""Beliefs about the cause of a failure, brought up to date run by run."""

from collections.abc import Hashable, Mapping, Sequence
from math import log
from types import MappingProxyType

from misstep.core.diagnosis import CAUSES, Cause
from misstep.planning.dissection.hypotheses import SAME_DEMANDS, Condition, Guilty, Hypothesis, hypotheses
from misstep.planning.dissection.rates import expected
from misstep.planning.variation.elements import Element

NOWHERE: Mapping[Element, float] = MappingProxyType({})


class Beliefs:
    """The posterior over all hypotheses, given that the case has failed once and what came of other runs.

    That first failure is why anybody looks at the case, so it is no evidence for one cause against another:
    the priors are those of the causes of failures. But it was seen, so it counts in what each hypothesis
    makes of its rates. All rates have conjugate priors, and the product of the predictions of a hypothesis
    for one run after another is its marginal likelihood.
    """

    def __init__(self, elements: frozenset[Element]) -> None:
        self.original: Condition = elements | {SAME_DEMANDS}
        self._weights = hypotheses(elements)
        self._seen: dict[Hypothesis, dict[Hashable, tuple[int, int]]] = {
            hypothesis: {hypothesis.group(self.original): (1, 0)} for hypothesis in self._weights
        }
        self._predicted: dict[Hypothesis, dict[Hashable, float]] = {}
        self._forget()

    @property
    def weights(self) -> Mapping[Hypothesis, float]:
        """The posterior probability of each hypothesis."""
        return self._weights

    def causes(self) -> dict[Cause, float]:
        """The posterior probability of each cause."""
        found = dict.fromkeys(CAUSES, 0.0)
        for hypothesis, weight in self._weights.items():
            found[hypothesis.cause] += weight
        return found

    def observe(self, condition: Condition, failed: bool, places: Mapping[Element, float] = NOWHERE) -> None:
        """Take note of a run.

        `places` says how much more likely an element makes it that a failure shows where it did.
        """
        for hypothesis, weight in self._weights.items():
            rate = self._predict(hypothesis, condition)
            shown = places.get(hypothesis.element, 1.0) if isinstance(hypothesis, Guilty) else 1.0
            self._weights[hypothesis] = weight * (rate * shown if failed else 1 - rate)
            group = hypothesis.group(condition)
            before = self._seen[hypothesis].get(group, (0, 0))
            self._seen[hypothesis][group] = (before[0] + failed, before[1] + (not failed))
        total = sum(self._weights.values())
        self._weights = {hypothesis: weight / total for hypothesis, weight in self._weights.items()}
        self._forget()

    def gain(self, condition: Condition) -> tuple[float, float]:
        """What a run would tell, in nats: about the cause, and about what exactly it is.

        Where a failure would show is left out of account.
        """
        failing, passing = list[float](), list[float]()
        by_cause = {cause: [0.0, 0.0] for cause in CAUSES}
        for hypothesis, weight in self._weights.items():
            fails = weight * self._predict(hypothesis, condition)
            failing.append(fails)
            passing.append(weight - fails)
            sums = by_cause[hypothesis.cause]
            sums[0] += fails
            sums[1] += weight - fails
        causes_after = sum([_entropy(side) for side in zip(*by_cause.values(), strict=True)])
        return self._open_causes - causes_after, self._open - _entropy(failing) - _entropy(passing)

    def _predict(self, hypothesis: Hypothesis, condition: Condition) -> float:
        """How likely a run under the condition is to fail, if the hypothesis holds."""
        group, known = hypothesis.group(condition), self._predicted[hypothesis]
        if group not in known:
            known[group] = expected(hypothesis.rate(group), *self._seen[hypothesis].get(group, (0, 0)))
        return known[group]

    def _forget(self) -> None:
        """Predictions hold only until the next run."""
        self._predicted = {hypothesis: {} for hypothesis in self._weights}
        self._open_causes = _entropy([*self.causes().values()])
        self._open = _entropy([*self._weights.values()])


def _entropy(masses: Sequence[float]) -> float:
    """What is left to find out, in nats, times the sum of the masses."""
    total = sum(masses)
    return (total * log(total) if total else 0.0) - sum([mass * log(mass) for mass in masses if mass > 0])
