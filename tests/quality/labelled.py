"""Failures whose causes are known: simulated planners with planted faults, and cases on which they failed."""

import asyncio
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, islice
from typing import cast

import msgspec

from misstep.core.agent import Assignment
from misstep.core.campaign import Inquiry
from misstep.core.case import Case
from misstep.core.diagnosis import Cause, Diagnosis
from misstep.core.dice import Dice, derive_seed
from misstep.core.outcome import Outcome
from misstep.core.transcript import Transcript
from misstep.planning.judging.explanation import check
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record

STRENGTHS = ("1", "0.8", "0.5")
PHRASES = ("prior to", "precedes", "has to come after", "later than")
FORMS = ("verb", "fronted preposition", "conjunction", "relative verb")
TOPICS = ("baker", "florist")
SHAPES = ("chain", "join", "fork")
RATES = ("0.2", "0.4", "0.6", "0.8")


class Planted(msgspec.Struct, frozen=True):
    """A planner with one fault; `guilty` is how a diagnosis that is right begins to name what is at fault."""

    kind: str
    options: Mapping[str, str]
    cause: Cause
    guilty: str = ""

    @property
    def strength(self) -> float:
        """How often the fault shows where it can."""
        return float(self.options.get("strength") or self.options.get("rate") or 1)


class Labelled(msgspec.Struct, frozen=True):
    """A case on which a planner failed, by its own chance."""

    planted: Planted
    case: Case


COIN = Planted("probability", {"rate": "1"}, "probability")


def planters() -> Iterator[Planted]:
    """A fault of every kind, at every strength."""
    for strength in STRENGTHS:
        for phrase in PHRASES:
            yield Planted("terminal", {"phrase": phrase, "strength": strength}, "terminal", f"'{phrase}'")
        for topic in TOPICS:
            yield Planted("topic", {"topic": topic, "strength": strength}, "topic", f"topic {topic}")
        for form in FORMS:
            yield Planted("structure", {"form": form, "strength": strength}, "structure", f"{form} (")
        for shape in SHAPES:
            yield Planted("constraint", {"shape": shape, "strength": strength}, "constraint", f"{shape}: ")
    for rate in RATES:
        yield Planted("probability", {"rate": rate}, "probability", "fails ")
    yield Planted("greedy", {}, "structure", "reading order (")
    yield Planted("idle", {}, "constraint", "whatever is asked")


@cache
def labelled_suite(each: int, seed: int) -> tuple[Labelled, ...]:
    """So many failures of each planner."""
    return tuple(failure for planted in planters() for failure in islice(failures(planted, seed), each))


def failures(planted: Planted, seed: int) -> Iterator[Labelled]:
    """The cases of a suite, three to six actions each, on which the planner fails."""
    topics = (planted.options["topic"],) if "topic" in planted.options else ()
    suite = Suite(derive_seed(seed, str(planted)), 3, 6, topics=topics)
    cases = (make_case(suite, index) for index in count())
    return (Labelled(planted, case) for case in cases if run(planted, case).verdict.verdict == "failed")


def run(planted: Planted, case: Case, noise: float = 0.0) -> Outcome:
    """Let the planner try a case; its chance comes from the seed of the case.

    With so much noise it gets everything backwards now and then, whatever its own fault is.
    """
    world = record(case)
    is_off = noise and Dice(derive_seed(case.seed, "noise")).chance(noise)
    chosen = COIN if is_off else planted
    agent = simulated_agent(chosen.kind, chosen.options)
    asyncio.run(agent.run(Assignment(case.query, case.seed), world))
    transcript = Transcript(case.id, world.calls)
    return Outcome(case, transcript, check(case, transcript))


def settle(inquiry: Inquiry[Diagnosis], planted: Planted, noise: float = 0.0) -> Diagnosis:
    """Hold an inquiry to its end, with the planner on every case it asks for."""
    cases = next(inquiry)
    while True:
        try:
            cases = inquiry.send([run(planted, case, noise) for case in cases])
        except StopIteration as end:
            return cast("Diagnosis", end.value)
