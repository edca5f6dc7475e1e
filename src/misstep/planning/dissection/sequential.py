"""The cause of a failure by inference, from runs that are chosen for what they tell."""

from misstep.core.campaign import Inquiry
from misstep.core.case import Case
from misstep.core.diagnosis import Cause, Diagnosis
from misstep.planning.dissection.attempts import attempt
from misstep.planning.dissection.experiments import Experiment, Laboratory
from misstep.planning.dissection.findings import Run, find_sentences, give_evidence, give_odds, name_guilty
from misstep.planning.dissection.hypotheses import Condition, Hypothesis
from misstep.planning.dissection.inference import NOWHERE, Beliefs
from misstep.planning.dissection.places import weigh_places
from misstep.planning.variation.anatomy import Anatomy, take_apart

# What it is worth to learn which element is guilty while the cause is open.
_ASIDE = 0.3
# Runs that may go into what exactly is guilty once the cause is known, and what each has to tell, in nats.
_NAMING_RUNS = 4
_WORTHWHILE = 0.02


def investigate(case: Case, confidence: float, most_runs: int) -> Inquiry[Diagnosis]:
    """Ask for runs, one at a time, until one cause of the failure of `case` has this posterior probability.

    Then a few more runs may go into what exactly is guilty. Without a cause after `most_runs` runs, or where
    the agent comes to no verdict, it is undetermined. Chance is to blame only if the very same case has
    passed at least once.

    If the priors hold, at most 1 - `confidence` of the causes that are named are wrong, on average: a
    posterior probability means the same whenever one stops. For each single cause of prior p, with rates like
    those of its hypotheses, another is ever named with a probability of at most
    (1 - `confidence`) / `confidence` * (1 - p) / p: the marginal likelihood of all others together, over its
    own, is then a martingale, and Ville's inequality bounds how high that ever gets.
    """
    return _Investigation(case, take_apart(case), confidence).hold(most_runs)


class _Investigation:
    def __init__(self, case: Case, anatomy: Anatomy, confidence: float) -> None:
        self._case = case
        self._anatomy = anatomy
        self._confidence = confidence
        self._laboratory = Laboratory(case, anatomy)
        self._beliefs = Beliefs(self._laboratory.elements)
        self._runs = list[Run]()
        self._spent = 0

    def hold(self, most_runs: int) -> Inquiry[Diagnosis]:
        naming = 0
        while self._spent < most_runs:
            settled = self._is_settled
            if settled and (naming == _NAMING_RUNS or len(self._accused) == 1):
                break
            chosen = self._choose()
            if settled and chosen.worth < _WORTHWHILE:
                break
            naming += settled
            done = yield from attempt(chosen.case, most_runs - self._spent)
            self._spent += done.runs
            if done.failed is None:
                return self._give_up(done.complaint)
            self._learn(chosen, Run(chosen.condition, done.outcome))
        return self._conclude()

    @property
    def _leading(self) -> tuple[Cause, float]:
        return max(self._beliefs.causes().items(), key=lambda item: item[1])

    @property
    def _is_settled(self) -> bool:
        return self._leading[1] >= self._confidence and not self._lacks_proof

    @property
    def _lacks_proof(self) -> bool:
        """Whether chance is suspected, and the failed case itself has never passed yet."""
        passed = any(run.condition == self._beliefs.original and not run.failed for run in self._runs)
        return self._leading[0] == "probability" and not passed

    @property
    def _accused(self) -> list[Hypothesis]:
        """The fewest hypotheses of the leading cause that have the share to be sure of in its probability."""
        cause, left = self._leading[0], self._leading[1] * self._confidence
        accused = list[Hypothesis]()
        for hypothesis, weight in sorted(self._beliefs.weights.items(), key=lambda item: -item[1]):
            if hypothesis.cause == cause and left > 0:
                accused.append(hypothesis)
                left -= weight
        return accused

    def _choose(self) -> Experiment:
        if self._leading[1] >= self._confidence and self._lacks_proof:
            return self._laboratory.repeat(self._spent)
        aside = 1.0 if self._is_settled else _ASIDE

        def worth(condition: Condition) -> float:
            about_cause, about_all = self._beliefs.gain(condition)
            return about_cause + aside * (about_all - about_cause)

        return self._laboratory.choose(self._spent, self._beliefs.weights, worth)

    def _learn(self, experiment: Experiment, run: Run) -> None:
        self._runs.append(run)
        shown = weigh_places(experiment.anatomy, run.condition, run.outcome) if run.failed else NOWHERE
        self._beliefs.observe(run.condition, run.failed, shown)

    def _conclude(self) -> Diagnosis:
        if not self._is_settled:
            return self._give_up(give_odds(self._beliefs.causes(), self._spent))
        accused = self._accused
        return Diagnosis(
            case=self._case.id,
            cause=self._leading[0],
            confidence=self._leading[1],
            guilty=name_guilty(accused, self._anatomy, self._runs),
            sentences=find_sentences(accused, self._anatomy),
            evidence=give_evidence(accused[0], self._runs, self._beliefs.original),
            agent_runs=self._spent,
            posterior=self._beliefs.causes(),
        )

    def _give_up(self, evidence: str) -> Diagnosis:
        """Nothing is determined, so there is nothing to be sure of."""
        causes = self._beliefs.causes()
        return Diagnosis(self._case.id, "undetermined", None, "", (), evidence, self._spent, causes)
