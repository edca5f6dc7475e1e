"""Inquiries held with agents that are no more than a rule for who passes."""

from collections.abc import Callable
from typing import cast

from misstep.core.case import Case
from misstep.core.outcome import Judgement, Outcome, Transcript, Verdict
from misstep.core.results.diagnosis import Diagnosis
from misstep.core.run import Inquiry
from misstep.planning.synthesis.suite import Suite, make_case

Rule = Callable[[Case], Judgement]


def some_case(index: int = 0) -> Case:
    return make_case(Suite(44, 4, 6), index)


def judged(case: Case, judgement: Judgement) -> Outcome:
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, judgement, explanation="For a reason."))


def hold(inquiry: Inquiry[Diagnosis], rule: Rule) -> tuple[Diagnosis, list[Case]]:
    """What an inquiry comes to, and all that it asked for."""
    asked = list[Case]()
    cases = next(inquiry)
    while True:
        asked += cases
        try:
            cases = inquiry.send([judged(case, rule(case)) for case in cases])
        except StopIteration as end:
            return cast("Diagnosis", end.value), asked
