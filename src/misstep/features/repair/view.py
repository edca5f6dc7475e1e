"""Shows the two readings of a request, their constraints as formulas, and the plan."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.planning.repair.outcome import Effect, RepairReport, RuleLine, ToolLine
from misstep.rendering.layout import indented, section
from misstep.rendering.terminal import counted, money
from misstep.rendering.text import plain


def formally(constraint: Constraint, ids: Mapping[str, str]) -> str:
    """A constraint as a formula over positions in the plan, 1 to n; `ids` are those of tools."""
    match constraint:
        case Before(first, then):
            return f"{ids[first]} < {ids[then]}"
        case Adjacent(first, then):
            return f"{ids[first]} + 1 = {ids[then]}"
        case Place(tool, place):
            return f"{ids[tool]} = {1 if place == 'first' else 'n'}"
        case Choice(options):
            return f"|{{{', '.join([ids[option] for option in options])}}}| = 1"
        case Repeat(tool, times):
            return f"|{ids[tool]}| = {times}"
        case Limit(tool, most):
            return f"{ids[tool]} <= {most + 1}"
        case _:
            raise ValueError(f"no request in the wild is read for {constraint}")


_WHO = {
    "both": "both readings say",
    "first": "only the first reading says",
    "second": "only the second reading says",
}
_WHERE = {
    "both": "what both readings say contradicts itself",
    "first": "the first reading contradicts itself",
    "second": "the second reading contradicts itself",
}


def repair_view(report: RepairReport) -> RenderableType:
    tokens = f"{report.tokens.input:,} tokens in, {report.tokens.output:,} out"
    asked = f"{plain(report.model)}: {counted(report.requests, 'request')}, {tokens}"
    parts: list[RenderableType] = [
        _headline(report),
        Text(asked, style="dim"),
        Text(f"cost: {money(report.usd, report.model)}", style="dim"),
        _needs(report.actions),
    ]
    for said_by, title in _WHO.items():
        rules = [rule for rule in report.constraints if rule.said_by == said_by]
        if rules:
            parts.append(section(title, _rules(rules)))
    parts += _conflicts(report)
    if report.beyond:
        words = Text("\n").join([_quoted(quote) for quote in report.beyond])
        parts.append(section("not expressible as a constraint, ignored by the plan", words))
    parts.append(_plan(report))
    return Group(*parts)


def _headline(report: RepairReport) -> Text:
    if not report.agree:
        return Text("the two readings of the request disagree", style="bold yellow")
    if not report.consistent:
        return Text("both readings agree, and no plan satisfies them", style="bold red")
    return Text("both readings of the request agree", style="bold green")


def _needs(needs: Sequence[ToolLine]) -> RenderableType:
    width = max([len(need.tool) for need in needs], default=0)
    lines = list[RenderableType]()
    for need in needs:
        lines.append(Text.assemble(f"{need.id:<4}{plain(need.tool):<{width}}  ", _quoted(need.quote)))
        if need.said_by != "both":
            with_it = f"; with it: {_arrows(need.instead)}" if need.instead else ""
            doubt = f"only in the {need.said_by} reading, not in the plan{with_it}"
            lines.append(indented(doubt, "yellow", 4))
    return section("requested tools", Group(*lines) if lines else Text("none", "dim"))


def _rules(rules: Sequence[RuleLine]) -> RenderableType:
    words, formal = max([len(rule.words) for rule in rules]), max([len(rule.formal) for rule in rules])
    lines = list[RenderableType]()
    for rule in rules:
        formula = (f"{rule.formal:<{formal}}  ", "cyan")
        lines.append(Text.assemble(f"{rule.words:<{words}}  ", formula, _quoted(rule.quote)))
        if rule.effect:
            lines.append(indented(_consequence(rule.effect, rule.instead), "yellow"))
    return Group(*lines)


def _consequence(effect: Effect, instead: Sequence[str]) -> str:
    match effect:
        case "kept":
            return "the plan satisfies it anyway"
        case "changes":
            return f"the plan does not; with it: {_arrows(instead)}"
        case "contradicts":
            return "the plan does not; with it there is none"
        case "aside":
            return "it involves tools that are not in the plan"
        case "unplanned":
            return "there is no plan to satisfy it"
    assert_never(effect)


def _conflicts(report: RepairReport) -> Iterator[RenderableType]:
    for conflict in report.conflicts:
        rules = [report.constraints[index] for index in conflict.constraints]
        bare = [msgspec.structs.replace(rule, effect=None) for rule in rules]
        proof = "  (Z3 agrees)" if conflict.confirmed else ""
        yield section(f"{_WHERE[conflict.said_by]}{proof}", _rules(bare))


def _plan(report: RepairReport) -> RenderableType:
    title = "plan"
    if not report.agree:
        agreed = any(rule.said_by == "both" for rule in report.constraints)
        any_order = "plan, in any order: the readings agree on no constraint"
        title = "plan for what both readings say" if agreed else any_order
    if report.plan is None:
        return section(title, Text("none: the constraints contradict each other", style="red"))
    if not report.plan:
        return section(title, Text("nothing to call", style="dim"))
    width = len(str(len(report.plan)))
    steps = [f"{number:>{width}}  {plain(tool)}" for number, tool in enumerate(report.plan, 1)]
    note = Text("nothing was called; fill in the arguments yourself", style="dim")
    return section(title, Group(Text("\n".join(steps)), note))


def _arrows(tools: Sequence[str]) -> str:
    return " → ".join([plain(tool) for tool in tools])


def _quoted(quote: str) -> Text:
    return Text(f"“{plain(quote, 300)}”", style="italic")
