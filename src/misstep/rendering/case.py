"""Shows a case in full on the terminal, and constraints in a few words."""

import json
from collections.abc import Mapping
from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core import constraint as kinds
from misstep.core.case import Difficulty
from misstep.core.constraint import Constraint
from misstep.core.outcome import Outcome
from misstep.rendering.layout import Trimmed, bare_table, section
from misstep.rendering.terminal import BASELINES, STYLES, counted, in_and_out, percent
from misstep.rendering.text import plain, plain_lines
from misstep.rendering.words import carried_out, written


def in_brief(constraint: Constraint, names: Mapping[str, str]) -> str:
    """What a constraint demands, on one line; `names` are those of actions, by id."""
    name = {action: plain(text) for action, text in names.items()}
    match constraint:
        case kinds.Before(first, then, _, announced):
            once = f", once {name[announced]} says so" if announced else ""
            return f"{name[first]} before {name[then]}{once}"
        case kinds.Window(action, edge, bound, time):
            limit = "no earlier than" if bound == "after" else "no later than"
            return f"{name[action]} {edge}s {limit} {time // 60:02}:{time % 60:02}"
        case kinds.Handover(giver, taker, parameter):
            return f"{name[taker]} uses the {plain(parameter)} of {name[giver]}"
        case kinds.Adjacent(first, then):
            return f"{name[first]} right before {name[then]}"
        case kinds.Place(action, place):
            return f"{name[action]} {place} of all"
        case kinds.Choice(options):
            return f"only one of {', '.join(name[option] for option in options)}"
        case kinds.Condition(asks, finding, then, otherwise):
            other = f", otherwise {name[otherwise]}" if otherwise else ", otherwise not"
            return f"{name[then]} if {name[asks]} reports {plain(finding)}{other}"
        case kinds.Repeat(action, times):
            return f"{name[action]} {times} times"
        case kinds.Limit(action, most):
            return f"at most {most} before {name[action]}"
        case kinds.Spend(most):
            return f"at most {most} spent in all"
        case kinds.StandIn(action, by):
            return f"{name[by]} only if {name[action]} is unavailable"
        case kinds.Given(action, arguments):
            return f"{name[action]} with {plain(json.dumps(arguments, ensure_ascii=False), 200)}"
    assert_never(constraint)


def actions_of(constraint: Constraint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the actions that come first and of those that follow; unordered ones are on one side."""
    match constraint:
        case kinds.Before(first, then) | kinds.Adjacent(first, then):
            return (first,), (then,)
        case kinds.Handover(giver, taker):
            return (giver,), (taker,)
        case kinds.Place(action, place):
            return ((action,), ()) if place == "first" else ((), (action,))
        case kinds.Choice(options):
            return options, ()
        case kinds.Condition(asks, _, then, otherwise):
            return (asks,), (then, otherwise) if otherwise else (then,)
        case kinds.StandIn(action, by):
            return (action,), (by,)
        case kinds.Window(action) | kinds.Repeat(action) | kinds.Limit(action) | kinds.Given(action):
            return (), (action,)
        case kinds.Spend():
            return (), ()
    assert_never(constraint)


def case_view(outcome: Outcome, difficulty: Difficulty) -> RenderableType:
    """A case in full: the request, the calls with the misstep marked, the verdict and its reasons."""
    case, verdict = outcome.case, outcome.verdict
    reached = "".join(  # which of the baseline agents, which don't plan, pass the case
        f", {name} {'passes' if getattr(outcome.baselines, field) else 'fails'}"
        for field, name in BASELINES.items()
        if outcome.baselines
    )
    chance = f"   (chance level {percent(case.chance)}{reached})"
    headline = verdict.verdict + (f": {verdict.error}" if verdict.error else "") + chance
    hardness = (
        f"difficulty: {counted(difficulty.actions, 'action')}, "
        f"{counted(difficulty.constraints, 'constraint')}, longest chain {difficulty.chain}, "
        f"{counted(difficulty.reading, 'pair')} against text order, about {difficulty.tokens} tokens"
    )
    parts: list[RenderableType] = [
        Text.assemble(("case ", "bold"), plain(case.id), f"   topic {plain(case.topic)}   seed {case.seed}"),
        Text(hardness, style="dim"),
        section("request", Text(plain_lines(case.query))),
        section("calls", calls_view(outcome)),
        *_said(outcome),
        section("verdict", Text(headline, style=STYLES[verdict.verdict])),
    ]
    if verdict.explanation:
        parts.append(section("why", Text(plain(verdict.explanation))))
    if "\n" in outcome.transcript.error:
        parts.append(section("traceback", Text(plain_lines(outcome.transcript.error))))
    if verdict.violated:
        parts.append(section("broken constraints", constraints_view(outcome)))
    if verdict.nearest:
        tools = {action.id: action.tool for action in case.actions}
        nearest = " → ".join(tools[action] for action in verdict.nearest)
        parts.append(section("nearest correct plan", Text(nearest)))
    if case.solution and verdict.verdict != "passed":
        way = "\n".join(written(call.tool, call.arguments) for call in case.solution)
        parts.append(section("a correct plan", Text(way)))
    return Trimmed(Group(*parts))


def calls_view(outcome: Outcome) -> RenderableType:
    """The calls, with results if these say more than that the call worked."""
    calls, telling = outcome.transcript.calls, bool(outcome.case.solution)
    if not calls:
        return Text("none", style="dim")
    width = len(str(len(calls)))
    lines = list[Text]()
    for step, call in enumerate(calls, 1):
        wrong = step == outcome.verdict.step
        late = f"   {carried_out(call)}" if call.ran else ""
        line = f"{step:>{width}}  {written(call.tool, call.arguments)}{late}"
        lines.append(Text(line + ("   ← misstep" if wrong else ""), style="red" if wrong else ""))
        if telling and call.result:
            lines.append(Text(f"{'':{width}}  {plain(call.result, 300)}", style="dim"))
    return Text("\n").join(lines)


def _said(outcome: Outcome) -> list[RenderableType]:
    """The agent's answer, what it cost, and the raw messages if they were kept."""
    transcript = outcome.transcript
    parts = list[RenderableType]()
    if transcript.answer:
        parts.append(section("answer", Text(plain_lines(transcript.answer, 2_000))))
    if transcript.misread:
        parts.append(section("unreadable", Text(f"{counted(transcript.misread, 'turn')} of the model")))
    if transcript.usage.input or transcript.usage.output:
        parts.append(section("tokens", Text(in_and_out(transcript.usage))))
    if transcript.messages:
        raw = [plain(json.dumps(each, ensure_ascii=False), 4_000) for each in transcript.messages]
        parts.append(section("messages", Text("\n".join(raw))))
    return parts


def constraints_view(outcome: Outcome) -> RenderableType:
    case = outcome.case
    names = {action.id: action.name for action in case.actions}
    table = bare_table(headed=False)
    for index in outcome.verdict.violated:
        constraint = case.constraints[index]
        source = "" if constraint.sentence is None else f"sentence {constraint.sentence + 1}"
        table.add_row(Text(f"{index + 1}"), Text(in_brief(constraint, names)), Text(source, style="dim"))
    return table
