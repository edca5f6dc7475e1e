"""Failures whose causes are known: simulated planners with planted faults, and cases on which they failed."""

import asyncio
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from typing import cast

import msgspec

from misstep.core.agent import Assignment
from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript
from misstep.core.results.diagnosis import Cause, Diagnosis
from misstep.core.rng import Dice, derive_seed
from misstep.core.run import Inquiry
from misstep.planning.dissection.hypotheses import ElementHistory
from misstep.planning.judging.check import check
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record

STRENGTHS = ("1", "0.8", "0.5")
PHRASES = ("prior to", "precedes", "has to come after", "later than")
FORMS = ("verb", "fronted preposition", "conjunction", "relative verb")
TOPICS = ("baker", "florist")
SHAPES = ("chain", "join", "fork")
OTHER_TOPIC = "tailor"
CASES = 60  # of a run
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
    """A case on which a planner failed, by its own chance, and what the run says in which it did."""

    planted: Planted
    case: Case
    history: ElementHistory


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
    yield Planted("idle", {}, "constraint", "any request")


def new_planters() -> Iterator[Planted]:
    """A fault of each kind that has to do with names, positions and sizes."""
    yield Planted(
        "name", {"activity": "flour delivery", "topic": "baker"}, "name", "the activity 'flour delivery'"
    )
    yield Planted("position", {"sentence": "-1"}, "position", "last sentence")
    yield Planted("position", {"sentence": "1"}, "position", "sentence 1")
    yield Planted("lister", {}, "position", "order of the tool list")
    yield Planted("size", {"least": "5"}, "size", "5 actions or more")
    yield Planted("size", {"least": "3", "of": "sentences"}, "size", "3 sentences or more")
    yield Planted("size", {"least": "800", "of": "characters"}, "size", "800 characters or more")


@cache
def labelled_suite(each: int, seed: int) -> tuple[Labelled, ...]:
    """So many failures of each planner."""
    return tuple(failure for planted in planters() for failure in failures(planted, each, seed))


def failures(planted: Planted, each: int, seed: int) -> list[Labelled]:
    """So many failures in a run of `CASES` cases, three to six actions each, or of as many as it takes.

    An agent that fails on one job alone is run on that and on another.
    """
    topics = (planted.options["topic"], OTHER_TOPIC) if "topic" in planted.options else ()
    suite = Suite(derive_seed(seed, str(planted)), 3, 6, topics=topics)
    outcomes, failed = list[Outcome](), list[Case]()
    for index in count():
        outcome = run(planted, make_case(suite, index))
        outcomes.append(outcome)
        failed += [outcome.case] if outcome.verdict.verdict == "failed" else []
        if len(failed) >= each and len(outcomes) >= CASES:
            break
    history = ElementHistory(outcomes)
    return [Labelled(planted, case, history) for case in failed[:each]]


def run(planted: Planted, case: Case, noise: float = 0.0) -> Outcome:
    """Let the planner try a case; its chance comes from the seed of the case.

    With so much noise it gets everything backwards now and then, whatever its own fault is.
    """
    world = record(case)
    is_off = noise and Dice(derive_seed(case.seed, "noise")).chance(noise)
    chosen = COIN if is_off else planted
    options = {
        key: value for key, value in chosen.options.items() if key != "topic" or chosen.kind == "topic"
    }
    agent = simulated_agent(chosen.kind, options)
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
