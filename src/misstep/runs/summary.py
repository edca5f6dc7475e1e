"""Summaries of runs."""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, Judgement, Usage
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.fixing import FixReport
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.summary import Summary, Tally
from misstep.core.spending import Spent
from misstep.core.stats import wilson
from misstep.runs.budget import cost_of_run, current_price, hides_tokens, may_price
from misstep.runs.setup.models import model_name, price_role
from misstep.store.runs import Run

# What is stored for each tool, group or task of a run.
UnitReport: TypeAlias = ToolReport | ConsistencyReport | GroupReport | TaskReport | FixReport
R = TypeVar("R", ToolReport, ConsistencyReport, GroupReport, TaskReport, FixReport)


def summarise(tally: Tally, run: Run, is_priced: bool = True) -> Summary:
    """The summary of a run on cases; its cost is known only if it `is_priced`."""
    price = current_price(run.settings) if is_priced else None
    usd = None if price is None or hides_tokens(tally, run.settings) else round(price.of(tally.usage), 6)
    return tally.summary(run.id, run.settings.agent, model_name(run.settings), usd)


def summarise_stored(tally: Tally, run: Run) -> Summary:
    return summarise(tally, run, may_price(run))


def summarise_tools(run: Run, reports: Sequence[ToolReport]) -> Summary:
    """The summary of a run on tools: a tool passes if no defect was found in it."""
    spent = Spent()
    for report in reports:
        spent += Spent(calls=report.calls + report.triage_calls, seconds=report.seconds)
        if journey := report.journey:
            spent += Spent(journey.usage, journey.calls, journey.seconds)
    return _summary(run, [verdict_on(report) for report in reports], spent, bool(run.settings.agent))


def verdict_on(report: ToolReport) -> Judgement:
    """A tool that got no usable requests, or accepted no call, neither passes nor fails."""
    if report.findings:
        return "failed"
    if not report.is_tested:
        return "inconclusive"
    passages = report.journey.passages if report.journey else ()
    if report.calls or not passages:
        return "passed"
    return "inconclusive" if all(each.fate == "inconclusive" for each in passages) else "passed"


def summarise_sets(
    run: Run, reports: Sequence[ConsistencyReport] | Sequence[GroupReport] | Sequence[FixReport]
) -> Summary:
    spent = [Spent(report.usage, report.calls, report.seconds) for report in reports]
    return _summary(run, [report.verdict for report in reports], sum(spent, Spent()), True)


def summarise_tasks(run: Run, reports: Sequence[TaskReport]) -> Summary:
    spent = [Spent(report.usage, report.calls, report.seconds) for report in reports]
    return _summary(
        run, [report.verdict for report in reports], sum(spent, Spent()), bool(run.settings.model)
    )


def _summary(run: Run, judged_as: Sequence[Judgement], spent: Spent, has_model: bool) -> Summary:
    verdicts = {verdict: judged_as.count(verdict) for verdict in JUDGEMENTS}
    passed, judged = verdicts["passed"], verdicts["passed"] + verdicts["failed"]
    unpriced = has_model and (not may_price(run) or price_role(run.settings) is None)
    return Summary(
        run=run.id,
        agent=run.settings.agent if run.purpose.kind.group == "bench" else ", ".join(run.purpose.tools),
        model=model_name(run.settings) if has_model else None,
        cases=len(judged_as),
        **verdicts,
        errors=dict.fromkeys(ERROR_KINDS, 0),
        success=passed / judged if judged else None,
        interval=wilson(passed, judged),
        chance=None,
        baselines=None,
        calls=spent.calls,
        tokens=sum(spent.usage.values(), Usage()),
        usd=None if unpriced else cost_of_run(run, spent.usage),
        seconds=round(spent.seconds, 3),
    )
