"""The second opinion on a verdict: Z3 must agree with the fast path."""

from misstep.core.case import Case
from misstep.core.outcome import Transcript, Verdict
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.judging.check import replay


def verify(case: Case, transcript: Transcript, verdict: Verdict) -> None:
    """Raise an `InternalError` if Z3 sees the last attempt differently.

    What is put to Z3 is the history of that attempt, complete or not: which actions were carried out, in
    which order, by which tools, from when to when, how often each tool worked, and which calls were refused
    for a value. It decides of every constraint, each on its own, whether that breaks it, which has to be what
    the verdict says; and of an attempt in which no call was wrong in itself, whether it carries out all that
    is due and meets all constraints together, which has to be so just if it has passed. What a single call
    did is not put to it, nor how the agent ended.
    """
    if verdict.verdict == "errored":
        return
    # An act error may be a shared turn, which is one only where that is forbidden.
    history = replay(case, transcript.calls, "forbid" if verdict.error == "act" else "ordered")
    broken = solver.violated_by(case, history)
    if broken != verdict.violated:
        raise _disagreement(
            case, f"constraints {list(broken)} are broken", f"the fast path {list(verdict.violated)}"
        )
    faultless = transcript.ended == "answered" and not history.acts and not history.parameters
    right = faultless and solver.accepts(case, history)
    if right != (verdict.verdict == "passed"):
        raise _disagreement(
            case, f"the attempt is {'right' if right else 'not right'}", f"the fast path {verdict.verdict!r}"
        )


def _disagreement(case: Case, said: str, instead: str) -> InternalError:
    return InternalError(
        f"Z3 and the fast path disagree on case {case.id}",
        f"Z3 says that {said}, {instead}",
        "this is a bug in misstep: please report it with the case and the plan",
    )
