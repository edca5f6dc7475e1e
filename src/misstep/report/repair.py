"""What two readings of a request come to, in words and formally."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, assert_never

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.core.transcript import Usage
from misstep.report.terminal import counted, money
from misstep.report.text import plain

SaidBy = Literal["both", "first", "second"]
Effect = Literal["kept", "changes", "contradicts", "aside", "unplanned"]

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


class ToolLine(msgspec.Struct, frozen=True):
    """A tool that is asked for. If only one reading says so, `instead` is the plan with it, if any."""

    id: str
    tool: str
    quote: str
    said_by: SaidBy
    instead: tuple[str, ...] | None = None


class RuleLine(msgspec.Struct, frozen=True):
    """A constraint. If only one reading has it, `effect` is what it does to the plan.

    The plan has `kept` it anyway; it `changes` the plan to `instead`; it `contradicts` what both say; it
    stands `aside`, with tools that the plan has not; or there is no plan to change.
    """

    words: str
    formal: str
    quote: str
    said_by: SaidBy
    constraint: Constraint
    effect: Effect | None = None
    instead: tuple[str, ...] = ()


class ConflictLine(msgspec.Struct, frozen=True):
    """Constraints, by index, that can't be met together; `confirmed` if Z3 says so too."""

    said_by: SaidBy
    constraints: tuple[int, ...]
    confirmed: bool


class RepairReport(msgspec.Struct, frozen=True):
    """What `plan repair --json` prints. `plan` is for what both readings say, null where that can't be done.

    `beyond` are words that demand something no constraint can say; the plan knows nothing of it.
    """

    model: str
    agree: bool
    consistent: bool
    actions: tuple[ToolLine, ...]
    constraints: tuple[RuleLine, ...]
    beyond: tuple[str, ...]
    conflicts: tuple[ConflictLine, ...]
    plan: tuple[str, ...] | None
    requests: int
    tokens: Usage
    usd: float | None


def formally(constraint: Constraint, ids: Mapping[str, str]) -> str:
    """A constraint as a formula over places in the plan, which are 1 to n; `ids` are those of tools."""
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


def repair_view(report: RepairReport) -> RenderableType:
    """The verdict on the readings, what they say, where they differ, and the plan."""
    parts: list[RenderableType] = [_headline(report), *_facts(report), _needs(report.actions)]
    for said_by, title in _WHO.items():
        rules = [rule for rule in report.constraints if rule.said_by == said_by]
        if rules:
            parts.append(_section(title, _rules(rules)))
    parts += _conflicts(report)
    if report.beyond:
        words = Text("\n").join([_quoted(quote) for quote in report.beyond])
        parts.append(_section("no constraint can say, and the plan does not heed", words))
    parts.append(_plan(report))
    return Group(*parts)


def _headline(report: RepairReport) -> Text:
    if not report.agree:
        return Text("the two readings of the request disagree", style="bold yellow")
    if not report.consistent:
        return Text("both readings agree, and no plan meets what they say", style="bold red")
    return Text("both readings of the request agree", style="bold green")


def _facts(report: RepairReport) -> Iterator[Text]:
    tokens = f"{report.tokens.input:,} tokens in, {report.tokens.output:,} out"
    yield Text(f"{plain(report.model)}: {counted(report.requests, 'request')}, {tokens}", style="dim")
    yield Text(f"cost: {money(report.usd, report.model)}", style="dim")


def _needs(needs: Sequence[ToolLine]) -> RenderableType:
    width = max([len(need.tool) for need in needs], default=0)
    lines = list[Text]()
    for need in needs:
        lines.append(Text.assemble(f"{need.id:<4}{plain(need.tool):<{width}}  ", _quoted(need.quote)))
        if need.said_by != "both":
            with_it = f"; with it: {_arrows(need.instead)}" if need.instead else ""
            lines.append(Text(f"    only in the {need.said_by} reading, not in the plan{with_it}", "yellow"))
    return _section("tools that are asked for", Text("\n").join(lines) if lines else Text("none", "dim"))


def _rules(rules: Sequence[RuleLine]) -> Text:
    words, formal = max([len(rule.words) for rule in rules]), max([len(rule.formal) for rule in rules])
    lines = list[Text]()
    for rule in rules:
        formula = (f"{rule.formal:<{formal}}  ", "cyan")
        lines.append(Text.assemble(f"{rule.words:<{words}}  ", formula, _quoted(rule.quote)))
        if rule.effect:
            lines.append(Text(f"  {_consequence(rule.effect, rule.instead)}", "yellow"))
    return Text("\n").join(lines)


def _consequence(effect: Effect, instead: Sequence[str]) -> str:
    match effect:
        case "kept":
            return "the plan keeps to it anyway"
        case "changes":
            return f"the plan does not; with it: {_arrows(instead)}"
        case "contradicts":
            return "the plan does not; with it there is none"
        case "aside":
            return "it speaks of tools that are not in the plan"
        case "unplanned":
            return "there is no plan to keep to it"
    assert_never(effect)


def _conflicts(report: RepairReport) -> Iterator[RenderableType]:
    for conflict in report.conflicts:
        rules = [report.constraints[index] for index in conflict.constraints]
        bare = [msgspec.structs.replace(rule, effect=None) for rule in rules]
        proof = "  (Z3 agrees)" if conflict.confirmed else ""
        yield _section(f"{_WHERE[conflict.said_by]}{proof}", _rules(bare))


def _plan(report: RepairReport) -> RenderableType:
    title = "plan" if report.agree else "plan for what both readings say"
    if report.plan is None:
        return _section(title, Text("none: the constraints contradict each other", style="red"))
    if not report.plan:
        return _section(title, Text("nothing to call", style="dim"))
    width = len(str(len(report.plan)))
    steps = [f"{number:>{width}}  {plain(tool)}" for number, tool in enumerate(report.plan, 1)]
    note = Text("nothing has been called; the arguments are yours to fill in", style="dim")
    return _section(title, Group(Text("\n".join(steps)), note))


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2)))


def _arrows(tools: Sequence[str]) -> str:
    return " → ".join([plain(tool) for tool in tools])


def _quoted(quote: str) -> Text:
    return Text(f"“{plain(quote, 300)}”", style="italic")
