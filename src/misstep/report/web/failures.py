"""Cases that did not pass, one after the other in a page."""

import shlex
from collections.abc import Iterator, Sequence

from misstep.core.outcome import Outcome
from misstep.core.transcript import Call
from misstep.report.call import carried_out, written
from misstep.report.constraint import in_brief
from misstep.report.text import plain
from misstep.report.web.markup import Markup, element, lines, text

FIRST_CALLS = 40
AROUND = 5  # calls shown on either side of a misstep that comes later
ARGUMENTS = 300  # in characters, as are those below
RESULT = 300
ANSWER = 2_000
REQUEST = 8_000


def failures(outcomes: Sequence[Outcome], run: str, place: str) -> Iterator[Markup]:
    """Each can be unfolded, the first is; `place` is what a command needs to find the store."""
    for number, outcome in enumerate(outcomes):
        opened = {} if number else {"open": "open"}
        yield element("details", _heading(outcome), *_body(outcome, run, place), **opened)


def _heading(outcome: Outcome) -> Markup:
    verdict = outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    kind = element("b", verdict.error or verdict.verdict, class_="bad")
    topic = element("span", f" · {plain(outcome.case.topic, 100)}", class_="dim")
    return element("summary", kind, f"{step} · ", element("code", text(outcome.case.id, 100)), topic)


def _body(outcome: Outcome, run: str, place: str) -> Iterator[Markup]:
    case, verdict = outcome.case, outcome.verdict
    yield from _titled("request", element("div", lines(case.query, REQUEST), class_="request"))
    yield from _titled("calls", _calls(outcome))
    if outcome.transcript.answer:
        yield from _titled("answer", element("pre", lines(outcome.transcript.answer, ANSWER)))
    if verdict.explanation:
        yield from _titled("why", element("p", text(verdict.explanation)))
    if verdict.violated:
        yield from _titled("broken constraints", _constraints(outcome))
    if verdict.nearest:
        tools = {action.id: plain(action.tool, 100) for action in case.actions}
        order = " → ".join(tools[action] for action in verdict.nearest)
        yield from _titled("nearest correct plan", element("p", element("code", text(order))))
    command = f"misstep replay {shlex.quote(plain(f'{run}/{case.id}'))}{plain(place)}"
    yield from _titled("again", element("pre", lines(command)))


def _titled(title: str, body: Markup) -> Iterator[Markup]:
    yield element("h3", title)
    yield body


def _calls(outcome: Outcome) -> Markup:
    """The calls with the misstep marked; of very many, the first and those around it."""
    calls, step = outcome.transcript.calls, outcome.verdict.step
    if not calls:
        return element("p", "none", class_="dim")
    shown = [*range(1, min(len(calls), FIRST_CALLS) + 1)]
    if step and step > FIRST_CALLS:
        shown += range(max(FIRST_CALLS + 1, step - AROUND), min(len(calls), step + AROUND) + 1)
    items, last = list[Markup](), 0
    for number in [*shown, len(calls) + 1]:
        if number > last + 1:
            items.append(element("li", f"… {number - last - 1:,} calls left out", class_="gap"))
        if number <= len(calls):
            items.append(_call(calls[number - 1], number, number == step, bool(outcome.case.solution)))
        last = number
    return element("ol", *items, class_="calls")


def _call(call: Call, number: int, wrong: bool, telling: bool) -> Markup:
    """A call; its result where results tell more than that it worked."""
    late = f" {carried_out(call)}" if call.ran else ""
    parts = [element("code", written(call.tool, call.arguments, ARGUMENTS)), text(late)]
    if wrong:
        parts.append(element("b", " ← misstep", class_="bad"))
    if telling and call.result:
        parts.append(element("span", text(call.result, RESULT), class_="result"))
    return element("li", *parts, value=number, class_="misstep" if wrong else "")


def _constraints(outcome: Outcome) -> Markup:
    case = outcome.case
    names = {action.id: plain(action.name, 100) for action in case.actions}
    broken = [case.constraints[index] for index in outcome.verdict.violated]
    return element("ul", *(element("li", text(in_brief(constraint, names))) for constraint in broken))
