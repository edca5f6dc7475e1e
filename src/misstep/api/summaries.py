"""What a run has come to."""

from collections.abc import Sequence

from misstep.api.budgets import hides_tokens
from misstep.api.models import model_name, price_agent
from misstep.core.finding import ToolReport
from misstep.core.settings import Settings
from misstep.core.statistics import wilson
from misstep.core.summary import Summary, Tally
from misstep.core.transcript import Usage
from misstep.core.verdict import ERROR_KINDS, JUDGEMENTS, Judgement
from misstep.errors import UsageError


def summarise(tally: Tally, run: str, settings: Settings) -> Summary:
    return tally.summary(run, settings.agent, model_name(settings), _cost(tally, settings))


def summarise_tools(run: str, specs: Sequence[str], reports: Sequence[ToolReport]) -> Summary:
    """A run on tools in the terms of any run: a tool passes if no defect was found in it."""
    verdicts: dict[Judgement, int] = dict.fromkeys(JUDGEMENTS, 0)
    for report in reports:
        verdicts["failed" if report.findings else "passed"] += 1
    passed, total = verdicts["passed"], len(reports)
    return Summary(
        run=run,
        agent=", ".join(specs),
        model=None,
        cases=total,
        **verdicts,
        errors=dict.fromkeys(ERROR_KINDS, 0),
        success=passed / total if total else None,
        interval=wilson(passed, total),
        chance=None,
        calls=sum(report.calls + report.triage_calls for report in reports),
        tokens=Usage(),
        usd=0.0,
        seconds=round(sum(report.seconds for report in reports), 3),
    )


def _cost(tally: Tally, settings: Settings) -> float | None:
    """What the tokens cost; None where they, or their price, are not known."""
    try:
        price = price_agent(settings)
    except UsageError:
        return None  # the list of prices has gone since
    return None if price is None or hides_tokens(tally, settings) else round(price.of(tally.usage), 6)
