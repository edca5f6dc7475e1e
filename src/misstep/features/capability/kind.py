"""Stored runs of `misstep plan capability`: test runs with a curve, and the page with it."""

from collections.abc import Iterator, Sequence

from misstep.core.results.capability import Capability
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.features.capability.figure import capability_figure
from misstep.features.capability.run import capability_of, levels_beside, view_capability, with_others
from misstep.features.capability.view import OTHER_PROBLEMS, Level, how_far, plans_up_to, whole_percent
from misstep.rendering.html.markup import Markup, Row, element, grid, together
from misstep.rendering.html.page import page
from misstep.rendering.html.sections import page_section
from misstep.rendering.terminal import BASELINES, KINDS, baseline_rates, percent, share
from misstep.rendering.words import IN_FULL, agent_name, interval
from misstep.runs.reporting.stored import PlanningRuns
from misstep.store.runs import Run, Store


def capability_section(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> Markup:
    figure = Markup(capability_figure(curves, "", styled=False, levels=levels))
    published = [_published(levels)] if levels else []
    return page_section("Capability", figure, *map(_points, curves), *published)


def _published(levels: Sequence[Level]) -> Markup:
    """Every agent of the paper; the figure shows the best of each model."""
    rows = [
        (
            f"{agent.framework}, {agent.model}",
            f"{level.actions[0]}–{level.actions[1]}",
            f"{agent.generated:,}",
            percent(agent.success),
            interval(agent.interval),
            f"at {level.limit} actions",
        )
        for level in levels
        for agent in level.agents
    ]
    under = ", ".join(sorted({whole_percent(level.threshold) for level in levels}))
    headings = ("agent", "actions", "cases", "success", "95 % interval", f"model under {under}")
    return grid(headings, map(Row, rows), 1, OTHER_PROBLEMS)


def _points(curve: Capability) -> Markup:
    rows = [
        (
            str(point.actions),
            f"{point.cases:,}",
            percent(point.success),
            interval(point.interval) if point.success is not None else "–",
            percent(point.chance),
            *baseline_rates(point.baselines).values(),
        )
        for point in curve.curve
    ]
    headings = ("actions", "cases", "success", "95 % interval", "chance", *BASELINES.values())
    return grid(headings, map(Row, rows), 0, f"{agent_name(curve, IN_FULL)}: {how_far(curve)}")


def errors_section(curves: Sequence[Capability]) -> Markup:
    rows = list[Row]()
    for curve in curves:
        shares = [percent(share(curve.errors, kind)) for kind in KINDS]
        rows.append(Row((agent_name(curve, IN_FULL), f"{sum(curve.errors.values()):,}", *shares)))
    where = element("p", "Failures up to the capability limit, by kind.")
    return page_section("Errors", where, grid(("agent", "failures", *KINDS), rows))


def curves_page(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> str:
    failed = any(sum(curve.errors.values()) for curve in curves)
    parts = (capability_section(curves, levels), *([errors_section(curves)] if failed else []))
    return page("Success by number of actions", parts)


class CapabilityRuns(PlanningRuns):
    has_curve = True

    def result(self, settings: StoreSettings, run: Run) -> Capability:
        return view_capability(settings, run.id)

    def headline(self, settings: ViewSettings, run: Run) -> Markup:
        """Not the success rate, which depends on how many cases of each size were run."""
        curve = view_capability(settings, run.id)
        rate = element("p", plans_up_to(curve), class_="rate")
        return together(rate, element("p", f"Success: {how_far(curve)}."))

    def findings(self, settings: ViewSettings, run: Run, summary: Summary) -> Iterator[Markup]:
        curves = with_others(settings, view_capability(settings, run.id))
        yield capability_section(curves, levels_beside(settings))
        if summary.failed:
            yield errors_section(curves)

    def most_actions(self, store: Store, run: Run) -> int:
        return capability_of(store, run).limit or 0


FEATURE = CapabilityRuns()
