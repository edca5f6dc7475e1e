"""Determines the cause of a failure by Bayesian inference, from runs chosen for their information."""

from misstep.core.case import Case
from misstep.core.results.diagnosis import Cause, Diagnosis
from misstep.core.run import Inquiry
from misstep.planning.dissection import experiments, findings
from misstep.planning.dissection.experiments import Check, Experiment, Laboratory, Witnesses
from misstep.planning.dissection.findings import VariantRun
from misstep.planning.dissection.hypotheses import NOWHERE, Beliefs, Condition, ElementHistory, Hypothesis
from misstep.planning.variation.anatomy import Anatomy, take_apart

_ASIDE = 0.3  # the value of learning which element is guilty while the cause is still open
# Runs to find the exact guilty element once the cause is known, and the minimum information of each, in nats.
_NAMING_RUNS = 4
_WORTHWHILE = 0.02


def investigate(
    case: Case, confidence: float, most_runs: int, history: ElementHistory | None = None
) -> Inquiry[Diagnosis]:
    """Run cases, one at a time, until one cause of the failure of `case` has this posterior probability.

    Then a few more runs may determine what exactly is guilty, and others have to confirm it. The cause is
    undetermined if there is none after `most_runs` runs, if those runs contradict it, or if the agent can't
    be judged. Chance is named only if the same case has passed at least once. `history` is what the run in
    which the case failed says about the suspects.

    If the priors hold, as the history leaves them, at most 1 - `confidence` of the causes that are named are
    wrong, on average: a posterior probability means the same whenever one stops. For each single cause of
    prior p, with rates like those of its hypotheses, another is ever named with a probability of at most (1 -
    `confidence`) / `confidence` * (1 - p) / p: the marginal likelihood of all others together, over its own,
    is then a martingale, and Ville's inequality bounds how high that ever gets.
    """
    return _Investigation(case, take_apart(case), confidence, history or ElementHistory()).hold(most_runs)


class _Investigation:
    def __init__(self, case: Case, anatomy: Anatomy, confidence: float, history: ElementHistory) -> None:
        self._case = case
        self._anatomy = anatomy
        self._confidence = confidence
        self._laboratory = Laboratory(case, anatomy)
        self._beliefs = Beliefs(self._laboratory.elements, self._laboratory.original, history)
        self._history = history
        self._runs = list[VariantRun]()
        self._spent = 0
        self._namings = 0

    def hold(self, most_runs: int) -> Inquiry[Diagnosis]:
        while self._spent < most_runs:
            chosen = self._next()
            if chosen is None:
                break
            done = yield from experiments.attempt(chosen.case, most_runs - self._spent)
            self._spent += done.runs
            if done.failed is None:
                return self._give_up(done.complaint)
            run = VariantRun(chosen.condition, done.outcome, chosen.avoid)
            self._runs.append(run)
            suspects = self._laboratory.elements.intersection(run.condition)
            places = findings.weigh_places(chosen.anatomy, suspects, run.outcome) if run.failed else NOWHERE
            self._beliefs.observe(run.condition, run.failed, places)
        return self._conclude()

    def _next(self) -> Experiment | None:
        """The next run: to find the cause, then the exact element, then to confirm it; None if done."""
        chosen = self._choose()
        if not self._is_settled:
            return chosen
        if len(self._accused) > 1 and self._namings < _NAMING_RUNS and chosen.worth >= _WORTHWHILE:
            self._namings += 1
            return chosen
        check = self._check(self._accused[0])
        return None if check is None or check[0].is_refuted(self._runs) else check[1]

    def _check(self, accused: Hypothesis) -> tuple[Check, Experiment] | None:
        return experiments.next_check(
            accused, self._laboratory, Witnesses(self._runs, self._history, self._confidence)
        )

    @property
    def _leading(self) -> tuple[Cause, float]:
        return max(self._beliefs.causes().items(), key=lambda item: item[1])

    @property
    def _is_settled(self) -> bool:
        return self._leading[1] >= self._confidence

    @property
    def _accused(self) -> list[Hypothesis]:
        """The fewest hypotheses of the leading cause that make up the required share of its probability."""
        cause, left = self._leading[0], self._leading[1] * self._confidence
        accused = list[Hypothesis]()
        for hypothesis, weight in sorted(self._beliefs.weights.items(), key=lambda item: -item[1]):
            if hypothesis.cause == cause and left > 0:
                accused.append(hypothesis)
                left -= weight
        return accused

    def _choose(self) -> Experiment:
        aside = 1.0 if self._is_settled else _ASIDE

        def worth(condition: Condition) -> float:
            about_cause, about_all = self._beliefs.gain(condition)
            return about_cause + aside * (about_all - about_cause)

        return self._laboratory.choose(self._spent, self._beliefs.weights, worth)

    def _conclude(self) -> Diagnosis:
        if not self._is_settled:
            return self._give_up(findings.give_odds(self._beliefs.causes(), self._spent))
        accused = self._accused
        evidence = findings.give_evidence(accused[0], self._runs, self._beliefs.original, self._history)
        if self._leading[0] == "undetermined":
            return self._give_up(evidence)
        unmet = self._check(accused[0])
        if unmet:
            check, own = unmet[0], unmet[0].own(self._runs)
            return self._give_up(findings.give_contradiction(accused[0], check.fails, check.about, own))
        return Diagnosis(
            case=self._case.id,
            cause=self._leading[0],
            confidence=self._leading[1],
            guilty=findings.name_guilty(accused, self._anatomy, self._runs),
            sentences=findings.find_sentences(accused, self._anatomy),
            evidence=evidence,
            agent_runs=self._spent,
            posterior=self._beliefs.causes(),
        )

    def _give_up(self, evidence: str) -> Diagnosis:
        """The diagnosis if no cause was determined; it has no confidence."""
        causes = self._beliefs.causes()
        return Diagnosis(self._case.id, "undetermined", None, "", (), evidence, self._spent, causes)
