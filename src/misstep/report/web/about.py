"""How a run was set up, in a page."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from misstep.core.run_spec import ON_TOOLS
from misstep.core.spending import AGENT
from misstep.core.summary import Summary
from misstep.report.naming import method_in_words
from misstep.report.terminal import RunRow, money
from misstep.report.web.markup import Markup, element, text
from misstep.report.web.tables import Cell, pairs

MOST = 1_000  # characters


def in_one_line(run: RunRow) -> Markup:
    """How a run on plans was set up."""
    settings = run.settings
    sizes = f"{settings.actions} actions" if not settings.cases else "cases from a file"
    told = (
        f"misstep {run.purpose.command}",
        sizes,
        ", ".join(settings.family),
        f"seed {settings.seed}",
        _when(run),
    )
    return element("p", text(" · ".join(told), MOST), class_="dim")


def about(run: RunRow, sandboxes: Iterable[str], summary: Summary) -> Markup:
    """Who was asked, when, within which bounds, and what that took."""
    told = [*_setup(run, summary.model or ""), ("sandbox", "; ".join(sorted({*filter(None, sandboxes)})))]
    told += [("budget", _budget(run)), ("took", f"{summary.seconds:,.0f} s of work")]
    rows: list[tuple[str, Cell]] = [(name, text(value, MOST)) for name, value in told if value]
    if summary.tokens.input or summary.tokens.output:
        rows.append(("tokens", f"{summary.tokens.input:,} in, {summary.tokens.output:,} out"))
        rows.append(("cost", money(summary.usd, summary.model)))
    return pairs(rows)


def _setup(run: RunRow, model: str) -> Iterator[tuple[str, str]]:
    settings, purpose = run.settings, run.purpose
    yield "tools", ", ".join(purpose.tools)
    yield "command", f"misstep {purpose.command}{method_in_words(settings, purpose)}"
    yield "started", _when(run)
    yield "agent", settings.agent
    if settings.agent:
        yield "model", model
        roles = {role: model for role, model in settings.model_roles.items() if role != AGENT}
        yield "other models", ", ".join(f"{role}: {model}" for role, model in roles.items())
    yield "seed", str(settings.seed)


def _when(run: RunRow) -> str:
    return datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _budget(run: RunRow) -> str:
    """What the run was allowed, as far as anything was said."""
    settings, budget = run.settings, run.settings.budget
    limits = {"USD": budget.usd, "tokens": budget.tokens, "s": budget.seconds, "calls": budget.calls}
    told = [f"{limit:,g} {unit}" for unit, limit in limits.items() if limit is not None]
    of_tools = run.purpose.verb in ON_TOOLS
    return ", ".join([*told, *([f"{settings.time_per_tool:,g} s for each tool"] if of_tools else [])])
