"""The cause of a failure by inference: each run is chosen for what it tells, and none is made once that is known."""

from misstep.core.campaign import Inquiry
from misstep.core.case import Case
from misstep.core.diagnosis import Cause, Diagnosis
from misstep.planning.dissection.attempts import attempt
from misstep.planning.dissection.experiments import Experiment, Laboratory
from misstep.planning.dissection.findings import Run, find_sentences, give_evidence, give_odds, name_guilty
from misstep.planning.dissection.hypotheses import SAME_DEMANDS, Condition, Hypothesis
from misstep.planning.dissection.inference import Beliefs
from misstep.planning.dissection.places import weigh_places
from misstep.planning.variation.anatomy import Anatomy, take_apart

# What it is worth to learn which element is guilty while the cause is open.
_ASIDE = 0.3
# Runs that may be spent on what exactly is guilty once the cause is known, and what the next has to tell.
_NAMING_RUNS = 4
_WORTHWHILE = 0.02


def investigate(case: Case, confidence: float, most_runs: int) -> Inquiry[Diagnosis]:
    """Ask for runs until the cause of the failure of `case` has this posterior probability, and name it.

    TODO guarantee
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
            if settled and (naming == _NAMING_RUNS or self._is_named):
                break
            chosen = self._choose()
            if settled and chosen.worth < _WORTHWHILE:
                break
            naming += settled
            done = yield from attempt(chosen.case, most_runs - self._spent)
            self._spent += done.runs
            if done.failed is None:
                return self._give_up(done.complaint)
            self._runs.append(Run(chosen.condition, done.outcome))
            suspects = [e for e in chosen.condition if e != SAME_DEMANDS and e.cause != "topic"]
            places = weigh_places(chosen.anatomy, suspects, done.outcome) if done.failed else {}
            self._beliefs.observe(chosen.condition, done.failed, places)
        return self._conclude() if self._is_settled else self._give_up(give_odds(self._beliefs.causes(), self._spent))

    @property
    def _leading(self) -> tuple[Cause, float]:
        return max(self._beliefs.causes().items(), key=lambda item: item[1])

    @property
    def _is_settled(self) -> bool:
        return self._leading[1] >= self._confidence

    @property
    def _is_named(self) -> bool:
        return len(self._accused) == 1

    @property
    def _accused(self) -> list[Hypothesis]:
        """The fewest hypotheses of the leading cause that have, of its weight, the share to be sure of."""
        cause, weight = self._leading
        left = weight * self._confidence
        accused = list[Hypothesis]()
        for hypothesis, own in sorted(self._beliefs.weights.items(), key=lambda item: -item[1]):
            if hypothesis.cause == cause and left > 0:
                accused.append(hypothesis)
                left -= own
        return accused

    def _choose(self) -> Experiment:
        aside = 1.0 if self._is_settled else _ASIDE

        def worth(condition: Condition) -> float:
            about_cause, about_all = self._beliefs.gain(condition)
            return about_cause + aside * (about_all - about_cause)

        return self._laboratory.choose(self._spent, self._beliefs.weights, worth)

    def _conclude(self) -> Diagnosis:
        cause, confidence = self._leading
        accused = self._accused
        return Diagnosis(
            self._case.id,
            cause,
            confidence,
            name_guilty(accused, self._anatomy, self._runs),
            find_sentences(accused, self._anatomy),
            give_evidence(accused[0], self._runs, self._beliefs.original),
            self._spent,
            self._beliefs.causes(),
        )

    def _give_up(self, evidence: str) -> Diagnosis:
        causes = self._beliefs.causes()
        return Diagnosis(
            self._case.id, "undetermined", causes["undetermined"], "", (), evidence, self._spent, causes
        )
