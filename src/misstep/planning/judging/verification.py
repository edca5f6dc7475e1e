"""The second opinion on a verdict: Z3 must agree with the fast path."""

from misstep.core.case import Case
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict
from misstep.errors import InternalError
from misstep.planning.judging import solver
from misstep.planning.judging.check import trace_calls


def verify(case: Case, transcript: Transcript, verdict: Verdict) -> None:
    """Raise an `InternalError` if Z3 sees the order of a complete plan differently."""
    plan = list(trace_calls(case, transcript.calls).places)
    if verdict.verdict == "errored" or len(plan) < len(case.actions):
        return  # Z3 is asked about orders of all actions only
    broken = solver.violated_by(case, plan)
    if broken != verdict.violated:
        raise InternalError(
            f"Z3 and the fast path disagree on case {case.id}",
            f"Z3 says that constraints {list(broken)} are broken, the fast path {list(verdict.violated)}",
            "this is a bug in misstep: please report it with the case and the plan",
        )
