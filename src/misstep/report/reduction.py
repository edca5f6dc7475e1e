"""What a failure has been reduced to, as a rich renderable."""

from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core.outcome import Outcome
from misstep.core.reduction import Reduction, Size
from misstep.report.case import calls_view, constraints_view
from misstep.report.layout import section
from misstep.report.terminal import STYLES, counted
from misstep.report.text import plain, plain_lines


def reduction_view(reduction: Reduction) -> RenderableType:
    """The smallest request, the calls with the misstep marked, what they break, and what it took."""
    if reduction.outcome is None:
        return Text(_nothing(reduction))
    return Group(
        Text(_sizes(reduction.before, reduction.after), style="bold"),
        Text(_effort(reduction), style="dim"),
        Text(_certainty(reduction), style="dim" if reduction.minimal else STYLES["inconclusive"]),
        *_failure(reduction.outcome),
    )


def _nothing(reduction: Reduction) -> str:
    if reduction.complaint and not reduction.tried:
        return f"The case could not be run again, so nothing is known: {plain(reduction.complaint, 300)}"
    tried = counted(reduction.tried, "further run")
    return f"The case did not fail like that again in {tried}: there is nothing to make smaller."


def _sizes(before: Size, after: Size) -> str:
    was = (
        counted(before.actions, "action"),
        counted(before.sentences, "sentence"),
        counted(before.constraints, "constraint"),
    )
    return f"{', '.join(was)} → {after.actions}, {after.sentences}, {after.constraints}"


def _effort(reduction: Reduction) -> str:
    steps, runs = counted(reduction.steps, "step"), counted(reduction.agent_runs, "run")
    often = f"{reduction.failed} of {counted(reduction.tried, 'run')}"
    return f"found in {steps} and {runs} of the agent; it fails {often} ({reduction.kind})"


def _certainty(reduction: Reduction) -> str:
    if reduction.unjudged:
        steps = counted(reduction.unjudged, "step")
        return f"{steps} to smaller ones could not be judged: {plain(reduction.complaint, 300)}"
    if not reduction.minimal:
        return "there may be a smaller one: not everything could be tried (--most-runs allows more)"
    if reduction.otherwise:
        other = f"{reduction.otherwise} of them fail in another way"
        return f"every step to a smaller or plainer one was tried: none fails like that, {other}"
    return "every step to a smaller or plainer one was tried, and passed"


def _failure(outcome: Outcome) -> list[RenderableType]:
    parts = [
        section("request", Text(plain_lines(outcome.case.query))),
        section("calls", calls_view(outcome)),
        section("why", Text(plain(outcome.verdict.explanation))),
    ]
    if outcome.verdict.violated:
        parts.append(section("broken constraints", constraints_view(outcome)))
    return parts
