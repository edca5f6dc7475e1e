"""One case in full, as the view of a case draws it.

As JSON a detail is

    {"id", "run", "topic", "seed", "verdict", "error" | null, "step" | null, "explanation", "chance" | null,
     "baselines": {name: passes} | null,
     "seconds" | null, "tokens", "usd" | null, "ended", "answer", "replay",
     "actions":     [{"id", "name", "tool"}],
     "request":     [{"text", "sentence": number | null}],         the whole request, in pieces
     "sentences":   [{"text", "constraints": [number, …]}],
     "constraints": [{"text", "kind", "family", "violated", "core",
                      "first": [action ids], "then": [action ids], "sentence": number | null,
                      "time": minutes | null, "edge": "start" | "end" | null}],
     "day":         [from, to] | null,                             minutes since midnight, in timed problems
     "calls":       [{"step", "tool", "action" | null, "arguments", "result", "wrong", "note",
                      "effect", "attempt", "start" | null, "end" | null}],
     "left_out":    number of calls that are not shown,
     "cause":       {"name", "sure": "99 %" or "", "guilty", "evidence"} | null,
     "missing":     [action ids], "nearest": [{"action", "tool", "name"}]}

`first` and `then` are what an arrow goes from and to: a broken constraint of order goes back in time.
All text in it is harmless: what could move a cursor or turn a text round is spelt out.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from misstep.core.case import Case
from misstep.core.constraint import Window, family_of
from misstep.core.diagnosis import Diagnosis
from misstep.core.outcome import Outcome
from misstep.report.call import carried_out, written
from misstep.report.constraint import actions_of, in_brief
from misstep.report.terminal import BASELINES
from misstep.report.text import plain, plain_lines

NAME = 200  # characters, as are those below
ARGUMENTS = 300
RESULT = 600
ANSWER = 4_000
REQUEST = 20_000
FIRST_CALLS = 60
AROUND = 5  # calls shown on either side of a misstep that comes later

Effect = Literal["done", "unavailable", "broken", "over", "price", "refused", "never"]


class Move(msgspec.Struct, frozen=True):
    """What came of one call: its effect, and in timed problems the minutes from and to which it was at work.

    `action` is the one that was carried out, if one was; it may not be that of the tool, which can stand in.
    """

    effect: Effect = "done"
    attempt: int = 1
    action: str = ""
    start: int | None = None
    end: int | None = None


class Origin(msgspec.Struct, frozen=True):
    """Where a case is kept: its run, and what a command needs so that it finds the store."""

    run: str
    place: str = ""


def detail_of(
    outcome: Outcome,
    moves: Sequence[Move],
    origin: Origin,
    usd: float | None = None,
    diagnosis: Diagnosis | None = None,
) -> dict[str, Any]:
    """The detail of an outcome; `moves` tells what came of each call, `diagnosis` why it failed."""
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    shown = _shown(len(transcript.calls), verdict.step)
    names = {action.id: plain(action.name, NAME) for action in case.actions}
    tools = {action.id: plain(action.tool, NAME) for action in case.actions}
    return {
        "id": plain(case.id, NAME),
        "run": plain(origin.run, NAME),
        "topic": plain(case.topic, NAME),
        "seed": case.seed,
        "verdict": verdict.verdict,
        "error": verdict.error,
        "step": verdict.step,
        "explanation": plain(verdict.explanation or transcript.error.partition("\n")[0]),
        "traceback": plain_lines(transcript.error) if "\n" in transcript.error else "",
        "chance": case.chance,
        "baselines": outcome.baselines
        and {name: bool(getattr(outcome.baselines, field)) for field, name in BASELINES.items()},
        "seconds": round(outcome.seconds, 3),
        "tokens": transcript.usage.input + transcript.usage.output,
        "usd": usd,
        "cause": diagnosis and _cause(diagnosis),
        "ended": transcript.ended,
        "answer": plain_lines(transcript.answer, ANSWER),
        "replay": f"misstep replay {shlex.quote(plain(f'{origin.run}/{case.id}'))}{plain(origin.place)}",
        "actions": [{"id": each.id, "name": names[each.id], "tool": tools[each.id]} for each in case.actions],
        "request": [{"text": text, "sentence": number} for text, number in _pieces(case)],
        "sentences": _sentences(case),
        "constraints": [*_constraints(outcome, names)],
        "day": case.world.day,
        "calls": [_call(outcome, moves, number) for number in shown],
        "left_out": len(transcript.calls) - len(shown),
        "missing": list(verdict.missing),
        "nearest": [{"action": each, "tool": tools[each], "name": names[each]} for each in verdict.nearest],
    }


def _cause(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "name": diagnosis.cause,
        "sure": diagnosis.sure,
        "guilty": plain(diagnosis.guilty),
        "evidence": plain(diagnosis.evidence),
    }


def _pieces(case: Case) -> Iterator[tuple[str, int | None]]:
    """The request cut where its sentences begin and end; those that only results tell are not in it."""
    query, place = case.query, 0
    for number, sentence in enumerate(case.sentences):
        found = query.find(sentence, place) if sentence else -1
        if found < 0:
            continue
        if found > place:
            yield plain_lines(query[place:found], REQUEST), None
        yield plain_lines(sentence, REQUEST), number
        place = found + len(sentence)
    if place < len(query):
        yield plain_lines(query[place:], REQUEST), None


def _sentences(case: Case) -> list[dict[str, Any]]:
    said = [list[int]() for _ in case.sentences]
    for index, constraint in enumerate(case.constraints):
        if constraint.sentence is not None and constraint.sentence < len(said):
            said[constraint.sentence].append(index)
    return [
        {"text": plain(text, REQUEST), "constraints": indices}
        for text, indices in zip(case.sentences, said, strict=True)
    ]


def _constraints(outcome: Outcome, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    for index, constraint in enumerate(outcome.case.constraints):
        first, then = actions_of(constraint)
        timed = constraint if isinstance(constraint, Window) else None
        yield {
            "text": in_brief(constraint, names),
            "kind": constraint.__struct_config__.tag,
            "family": family_of(constraint),
            "violated": index in outcome.verdict.violated,
            "core": index in outcome.verdict.core,
            "first": list(first),
            "then": list(then),
            "sentence": constraint.sentence,
            "time": timed and timed.time,
            "edge": timed and timed.edge,
        }


def _shown(count: int, step: int | None) -> list[int]:
    """The numbers of the calls that are shown: of very many the first, and those around the misstep."""
    shown = [*range(1, min(count, FIRST_CALLS) + 1)]
    if step and step > FIRST_CALLS:
        shown += range(max(FIRST_CALLS + 1, step - AROUND), min(count, step + AROUND) + 1)
    return shown


def _call(outcome: Outcome, moves: Sequence[Move], number: int) -> dict[str, Any]:
    call, move = outcome.transcript.calls[number - 1], moves[number - 1]
    return {
        "step": number,
        "tool": plain(call.tool, NAME),
        "action": move.action or None,
        "arguments": written("", call.arguments, ARGUMENTS)[1:-1],
        "result": plain(call.result, RESULT),
        "wrong": number == outcome.verdict.step,
        "note": carried_out(call),
        "effect": move.effect,
        "attempt": move.attempt,
        "start": move.start,
        "end": move.end,
    }
