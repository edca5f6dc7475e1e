"""All cases of a run, in little room: what a list of them shows, and what it is filtered and sorted by.

The list gets columns rather than rows. As JSON an index is

    {"version": 1,
     "id": [text, …],
     "verdict": {"words": [text, …], "of": [number of the word, …]},   likewise "error", "topic"
     "family": {"words": [[text, …], …], "of": [number, …]},           all families of a case together
     "why": [text, …],                                                 the beginning of the explanation
     "actions": [n, …], "calls": [n, …], "tokens": [n, …],
     "seconds": [s, …],
     "cause": {"words": …, "of": …} | null,                            null where no failure was looked into
     "usd": [dollars, …] | null,                                       null where no price is known
     "flaky": [0 | 1, …] | null,                                       null where nothing is known
     "kept": n}                                                        so many of the first have details
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from misstep.core.case import families_of
from misstep.core.outcome import Outcome
from misstep.report.text import plain

VERSION = 1
WHY = 140  # characters, as are those below
NAME = 200


class Digest(msgspec.Struct, frozen=True):
    """A case as the list knows it, in harmless text. `usd`, `cause`, `flaky` are null where unknown."""

    id: str
    verdict: str
    error: str
    topic: str
    families: tuple[str, ...]
    why: str
    actions: int
    calls: int
    tokens: int
    seconds: float
    usd: float | None = None
    cause: str | None = None
    flaky: bool | None = None


def digest_of(
    outcome: Outcome, usd: float | None = None, cause: str | None = None, flaky: bool | None = None
) -> Digest:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    why = verdict.explanation or (transcript.error.partition("\n")[0] if verdict.verdict == "errored" else "")
    return Digest(
        id=plain(case.id, NAME),
        verdict=verdict.verdict,
        error=verdict.error or "",
        topic=plain(case.topic, NAME),
        families=tuple(families_of(case)),
        why=plain(why if len(why) <= WHY else f"{why[: WHY - 1]}…"),
        actions=len(case.actions),
        calls=len(transcript.calls),
        tokens=transcript.usage.input + transcript.usage.output,
        seconds=round(outcome.seconds, 3),
        usd=usd,
        cause=cause,
        flaky=flaky,
    )


def index_of(digests: Iterable[Digest], kept: int | None = None) -> dict[str, Any]:
    """The index of these cases; there are details of the first `kept`, or of all if nothing is said."""
    rows = list(digests)
    return {
        "version": VERSION,
        "id": [row.id for row in rows],
        "verdict": _worded([row.verdict for row in rows]),
        "error": _worded([row.error for row in rows]),
        "topic": _worded([row.topic for row in rows]),
        "family": _worded([row.families for row in rows]),
        "why": [row.why for row in rows],
        "actions": [row.actions for row in rows],
        "calls": [row.calls for row in rows],
        "tokens": [row.tokens for row in rows],
        "seconds": [row.seconds for row in rows],
        "cause": _worded([row.cause or "" for row in rows]) if any(row.cause for row in rows) else None,
        "usd": _known([row.usd for row in rows]),
        "flaky": _known([None if row.flaky is None else int(row.flaky) for row in rows]),
        "kept": len(rows) if kept is None else kept,
    }


def _worded(values: Sequence[object]) -> dict[str, Any]:
    """A table of words, and for each case the number of its word."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return {"words": list(numbers), "of": [numbers[value] for value in values]}


def _known(values: Sequence[float | None]) -> list[float | None] | None:
    return None if all(value is None for value in values) else list(values)
