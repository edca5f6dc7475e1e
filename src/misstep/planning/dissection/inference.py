"""Bayesian beliefs about the cause of a failure, updated run by run, and runs repeated until judged."""

from collections.abc import Generator, Hashable, Mapping, Sequence
from math import exp, log
from types import MappingProxyType

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.results.diagnosis import CAUSES, Cause
from misstep.planning.dissection.hypotheses import (
    ALWAYS,
    CHANCE,
    ELSEWHERE,
    OTHERS,
    SAME_DEMANDS,
    Condition,
    ConstantRate,
    ElementHistory,
    Guilty,
    Hopeless,
    Hypothesis,
    expected,
    hypotheses,
    log_marginal,
)
from misstep.planning.language.requests import how_often
from misstep.planning.variation.anatomy import again
from misstep.planning.variation.elements import Element

MOST_ATTEMPTS = 3


class AgentAttempt(msgspec.Struct, frozen=True):
    """The outcome of a case, after this many runs of the agent."""

    outcome: Outcome
    runs: int

    @property
    def failed(self) -> bool | None:
        """None if no run passed or failed."""
        return {"passed": False, "failed": True}.get(self.outcome.verdict.verdict)

    @property
    def complaint(self) -> str:
        verdict = self.outcome.verdict
        return f"{verdict.verdict} {how_often(self.runs)} running: {verdict.explanation}".rstrip(": ")


def attempt(
    case: Case, most: int = MOST_ATTEMPTS
) -> Generator[Sequence[Case], Sequence[Outcome], AgentAttempt]:
    """Run a case, and again with another seed while it gets no verdict; `most` is at least 1."""
    tried = case
    for runs in range(1, min(most, MOST_ATTEMPTS) + 1):
        (outcome,) = yield (tried,)
        done = AgentAttempt(outcome, runs)
        if done.failed is not None:
            break
        tried = again(case, runs)
    return done


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
        self._predicted: dict[Hypothesis, dict[Hashable, float]] = {}
        self._forget()

    def causes(self) -> dict[Cause, float]:
        found = dict.fromkeys(CAUSES, 0.0)
        for hypothesis, weight in self.weights.items():
            found[hypothesis.cause] += weight
        return found

    def observe(self, condition: Condition, failed: bool, places: Mapping[Element, float] = NOWHERE) -> None:
        """Update with the result of a run.

        `places` says how much more likely an element makes it that a failure shows where it did.
        """
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
        """Use other cases as evidence like runs, although they differ from this one in unknown ways.

        Their weight is therefore limited, relative to what would be seen if no suspect mattered.
        """
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
        """Clear cached predictions, which are valid only until the next run."""
        self._predicted = {hypothesis: {} for hypothesis in self.weights}
        self._open_causes = _entropy([*self.causes().values()])
        self._open = _entropy([*self.weights.values()])


def _entropy(masses: Sequence[float]) -> float:
    """Entropy in nats, times the sum of the masses."""
    total = sum(masses)
    return (total * log(total) if total else 0.0) - sum([mass * log(mass) for mass in masses if mass > 0])
