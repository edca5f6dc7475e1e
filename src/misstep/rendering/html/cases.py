"""Encodes the cases of a run as JSON for the scripts of a page: an index, and details of each case.

A detail (`detail_of`) has everything that the view of one case shows. In it, `first` and `then` of a
constraint are the ends of an arrow: that of a violated order constraint points back in time. Times are
minutes since midnight. All text is escaped: nothing in it can move a cursor or change the direction of text.

The index (`index_of`) has what the list of all cases shows, filters and sorts by: the fields of `CaseDigest`,
in columns rather than rows. A column of few words is `{"words": [word, …], "of": [number of the word, …]}`,
and a column about which nothing is known is null. Only the first `kept` cases have details.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from misstep.core.case import Case, families_of
from misstep.core.constraint import Window, family_of
from misstep.core.outcome import Outcome
from misstep.core.results.diagnosis import Diagnosis
from misstep.rendering.case import actions_of, in_brief
from misstep.rendering.html.assets import Archive
from misstep.rendering.html.markup import Markup, element, text, together
from misstep.rendering.html.sections import page_section
from misstep.rendering.terminal import BASELINES, split_explanation
from misstep.rendering.text import plain, plain_lines
from misstep.rendering.words import carried_out, written

VERSION = 1
WHY = 240  # characters, like those below
NAME = 200


class CaseDigest(msgspec.Struct, frozen=True):
    """A case in the list, in escaped text; the fields are columns of the index, null if unknown."""

    id: str
    verdict: str
    error: str
    topic: str
    family: tuple[str, ...]
    why: str
    actions: int
    calls: int
    tokens: int
    seconds: float
    cause: str | None = None
    usd: float | None = None
    flaky: bool | None = None


def digest_of(
    outcome: Outcome, usd: float | None = None, cause: str | None = None, flaky: bool | None = None
) -> CaseDigest:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    why = verdict.explanation or (transcript.error.partition("\n")[0] if verdict.verdict == "errored" else "")
    return CaseDigest(
        id=plain(case.id, NAME),
        verdict=verdict.verdict,
        error=verdict.error or "",
        topic=plain(case.topic, NAME),
        family=tuple(families_of(case)),
        why=plain(split_explanation(why)[0], WHY),
        actions=len(case.actions),
        calls=len(transcript.calls),
        tokens=transcript.usage.input + transcript.usage.output,
        seconds=round(outcome.seconds, 3),
        usd=usd,
        cause=cause,
        flaky=flaky,
    )


def index_of(digests: Iterable[CaseDigest], kept: int | None = None) -> dict[str, Any]:
    """The index of these cases; the first `kept` have details, by default all."""
    rows = list(digests)
    columns = {name: [getattr(row, name) for row in rows] for name in CaseDigest.__struct_fields__}
    causes, flaky = columns["cause"], columns["flaky"]
    return {
        "version": VERSION,
        **columns,
        **{name: _worded(columns[name]) for name in ("verdict", "error", "topic", "family")},
        "cause": _worded([cause or "" for cause in causes]) if any(causes) else None,
        "usd": _known(columns["usd"]),
        "flaky": _known([None if each is None else int(each) for each in flaky]),
        "kept": len(rows) if kept is None else kept,
    }


def _worded(values: Sequence[object]) -> dict[str, Any]:
    """A list of distinct words, and for each case the index of its word."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return {"words": list(numbers), "of": [numbers[value] for value in values]}


def _known(values: Sequence[float | None]) -> list[float | None] | None:
    return None if all(value is None for value in values) else list(values)


ARGUMENTS = 300
RESULT = 600
ANSWER = 4_000
REQUEST = 20_000
FIRST_CALLS = 60
AROUND = 5  # calls shown on either side of a late misstep

Effect = Literal["done", "unavailable", "broken", "over", "price", "refused", "never"]


class CallEffect(msgspec.Struct, frozen=True):
    """The result of one call: its effect, and in timed problems its start and end in minutes."""

    effect: Effect = "done"
    attempt: int = 1
    action: str = ""  # what was carried out, if anything; not that of the tool if this is a substitute
    start: int | None = None
    end: int | None = None


class CaseOrigin(msgspec.Struct, frozen=True):
    """Where a case is stored: its run, and the part of a command that names the store."""

    run: str
    place: str = ""


def detail_of(
    outcome: Outcome,
    moves: Sequence[CallEffect],
    origin: CaseOrigin,
    usd: float | None = None,
    diagnosis: Diagnosis | None = None,
) -> dict[str, Any]:
    """The detail of an outcome; `moves` are the effects of the calls, `diagnosis` is why it failed."""
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
        "cause": diagnosis
        and {
            "name": diagnosis.cause,
            "sure": diagnosis.sure,
            "guilty": plain(diagnosis.guilty),
            "evidence": plain(diagnosis.evidence),
        },
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


def _pieces(case: Case) -> Iterator[tuple[str, int | None]]:
    """The request cut at the boundaries of sentences, without those that only results tell."""
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
    """The indexes of the calls that are shown: of very many, the first and those near the misstep."""
    shown = [*range(1, min(count, FIRST_CALLS) + 1)]
    if step and step > FIRST_CALLS:
        shown += range(max(FIRST_CALLS + 1, step - AROUND), min(count, step + AROUND) + 1)
    return shown


def _call(outcome: Outcome, moves: Sequence[CallEffect], number: int) -> dict[str, Any]:
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


NO_SCRIPTS = "The list of cases needs JavaScript. On a terminal:"


def bind(digests: Sequence[CaseDigest], archive: Archive, again: str) -> "CaseBundle":
    """The bundle of these cases, with the details that fit into the archive."""
    index = index_of(digests)
    lines, kept = archive.close(len(_encode(index)))
    return CaseBundle(index | {"kept": kept}, lines, again=again)


def served_at(base: str, again: str) -> "CaseBundle":
    """A bundle that a server sends: `BASE/cases.json` and `BASE/cases/ID.json`."""
    return CaseBundle(index_of(()), base=base, again=again)


class CaseBundle(msgspec.Struct, frozen=True):
    """An index (`index_of`), and the lines of an `Archive` with the details of its first cases."""

    index: dict[str, Any]
    lines: tuple[str, ...] = ()
    base: str = ""  # where a server sends the details; then there are no lines
    again: str = ""  # the command that lists the cases

    def section(self) -> Markup:
        size, kept = len(self.index["id"]), self.index["kept"]
        told = f"Details of {kept:,} of {size:,} cases are in this file, failures first"
        note = element("p", f"{told}; misstep serve shows all of them.", class_="caption")
        place = element("div", id="cases", data_base=self.base)
        return page_section("Cases", *([note] if kept < size else []), self._without_scripts(), place)

    def aside(self) -> Markup:
        """The element for cases that other parts of the page link to."""
        return element("div", id="cases", data_base=self.base, data_listed="no")

    def single(self, title: str) -> Markup:
        case = self.index["id"][0]
        place = element(
            "div", class_="case", data_case=case, id="cases", data_base=self.base, data_listed="no"
        )
        return page_section(title, self._without_scripts(), place)

    def folded(self) -> Iterator[Markup]:
        """Each case to unfold, the first one open; `aside` has to be on the same page."""
        for place, case in enumerate(self.index["id"]):
            head = element("summary", element("code", case))
            body = element("div", class_="case", data_case=case)
            yield element("details", head, body, **({} if place else {"open": "open"}))

    def held(self, *scripts: Markup) -> Markup:
        """The data that the page's scripts read: the index before them, the details after them."""
        return together(
            element("script", Markup(_encode(self.index)), type="application/json", id="index"),
            *scripts,
            element("script", Markup("\n".join(self.lines)), type="text/plain", id="details"),
        )

    def _without_scripts(self) -> Markup:
        return element("noscript", element("p", NO_SCRIPTS), element("pre", text(self.again)))


def _encode(index: dict[str, Any]) -> str:
    """JSON that can't end the element it is in."""
    source = msgspec.json.encode(index).decode()
    for letter in "<>&":
        source = source.replace(letter, f"\\u{ord(letter):04x}")
    return source
