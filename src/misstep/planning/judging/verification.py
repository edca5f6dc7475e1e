"""Verifies a verdict with Z3, which must agree with the fast checker."""

from misstep.core.case import Case
from misstep.core.outcome import Transcript, Verdict
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.judging.check import replay


def verify(case: Case, transcript: Transcript, verdict: Verdict) -> None:
    """Raise `InternalError` if Z3 disagrees about the last attempt.

    Z3 gets the history of that attempt, complete or not: which actions were executed, in which order, by
    which tools, from when to when, how often each tool worked, and which calls were refused for a value. For
    every constraint it decides individually whether the history breaks it, which has to match the verdict.
    For an attempt without a call that was wrong in itself it also decides whether everything due was executed
    and all constraints hold together, which has to be true exactly if it passed. What a single call did and
    how the agent ended are not checked.
    """
    if verdict.verdict == "errored":
        return
    # An act error may be a shared turn, which is an error only if that is forbidden.
    history = replay(case, transcript.calls, "forbid" if verdict.error == "act" else "ordered")
    broken = solver.violated_by(case, history)
    if broken != verdict.violated:
        said = f"constraints {list(broken)} are broken"
        raise _disagreement(case, said, f"the fast path {list(verdict.violated)}")
    faultless = transcript.ended == "answered" and not history.acts and not history.parameters
    right = faultless and solver.accepts(case, history)
    if right != (verdict.verdict == "passed"):
        said = f"the attempt is {'right' if right else 'not right'}"
        raise _disagreement(case, said, f"the fast path {verdict.verdict!r}")


def _disagreement(case: Case, said: str, instead: str) -> InternalError:
    return InternalError(
        f"Z3 and the fast path disagree on case {case.id}",
        f"Z3 says that {said}, {instead}",
        "this is a bug in misstep: please report it with the case and the plan",
    )
