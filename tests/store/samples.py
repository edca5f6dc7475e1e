"""Outcomes and stores for the tests of the store."""

import random
from functools import cache

import msgspec

from misstep.core.outcome import (
    ERROR_KINDS,
    JUDGEMENTS,
    Call,
    ErrorKind,
    Judgement,
    Outcome,
    Transcript,
    Usage,
    Verdict,
)
from misstep.core.results.summary import Summary, Tally
from misstep.core.settings import Settings, Span
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.store.runs import Store

SETTINGS = Settings(agent="sim:perfect", actions=Span(2, 4), agent_args={"a": "b"}, topics=("baker",))
ODD_NAMES = (
    "\0",
    "a\0b",
    "a\\0b",
    "a\\\\0b",
    "☃ \U0001f600",
    "%",
    "_",
    "x" * 5000,
    "x" * 5001,
    "' OR 1=1; --",
)


@cache
def outcome(number: int, verdict: Judgement = "passed", error: ErrorKind | None = None) -> Outcome:
    case = make_case(Suite(0, 3, 5), number)
    calls = (Call("x\x00\u202e", {"deep": [{"y": None}]}, "ok", 1, 0.5),)
    transcript = Transcript(case.id, calls, usage=Usage(10 * number, number, 1))
    return Outcome(case, transcript, Verdict(case.id, verdict, error), 0.25)


def renamed(outcome: Outcome, name: str) -> Outcome:
    """The same for a case of another name."""
    return msgspec.structs.replace(outcome, case=msgspec.structs.replace(outcome.case, id=name))


def random_outcome(dice: random.Random, number: int) -> Outcome:
    verdict = dice.choice(JUDGEMENTS)
    error = dice.choice(ERROR_KINDS) if verdict == "failed" else None
    sample = outcome(number, verdict, error)
    case = msgspec.structs.replace(sample.case, chance=dice.choice([None, 0.0, 1.0, dice.random()]))
    usage = Usage(dice.randrange(10**9), dice.randrange(10**6), dice.randrange(100))
    calls = sample.transcript.calls * dice.randrange(6)
    transcript = msgspec.structs.replace(sample.transcript, calls=calls, usage=usage)
    return Outcome(case, transcript, sample.verdict, dice.random() * 100)


def summary(run: str) -> Summary:
    return Tally().summary(run, "sim:perfect")


def new_run(store: Store, total: int = 1, started: float = 0.0) -> str:
    return store.add_run(SETTINGS, total, started).id
