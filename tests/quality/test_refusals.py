"""Refusals that hide bugs are told from ordinary ones, on a labelled set, without a false alarm."""

import json

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Frame, Invocation, Raised, Reaction
from misstep.fuzzing.judging.ruling import judge
from tests.quality.refusals import ARGUMENTS, ORDINARY, REAL, SUSPICIOUS, TOOLS, Labelled

LABELLED = [*SUSPICIOUS, *ORDINARY, *REAL]


def judged(labelled: Labelled, fits: bool = True) -> Judged:
    about, properties = TOOLS[labelled.tool]
    tool = Tool(labelled.tool, about, {"type": "object", "properties": properties})
    described = Described(tool, "function" if labelled.error else "mcp")
    call = Invocation(labelled.tool, json.dumps(ARGUMENTS[labelled.tool]))
    return judge(described, call, fits, "" if fits else "type", _reaction(labelled))


def _reaction(labelled: Labelled) -> Reaction:
    if not labelled.error:
        return Reaction("returned", labelled.message, len(labelled.message), flagged=True)
    frames = (Frame("mine.py", 7, labelled.tool, True),)
    bases = (labelled.error, "Exception")
    raised = Raised(labelled.error, labelled.message, bases, frames, deliberate=True)
    return Reaction("raised", raised=raised)


@pytest.mark.parametrize("labelled", LABELLED, ids=lambda each: f"{each.tool}: {each.message[:40]}")
def test_a_refusal_is_suspicious_if_it_tells_of_a_bug(labelled: Labelled) -> None:
    found = judged(labelled)
    assert (found.ruling in ("suspicious-refusal", "crash")) is labelled.suspicious, found


def test_most_of_them_are_refusals_and_no_crashes() -> None:
    rulings = [judged(each).ruling for each in SUSPICIOUS]
    assert rulings.count("suspicious-refusal") >= 28


@pytest.mark.parametrize("labelled", SUSPICIOUS, ids=lambda each: each.message[:40])
def test_arguments_that_the_schema_forbids_may_be_refused_anyhow(labelled: Labelled) -> None:
    assert judged(labelled, fits=False).ruling == "refused"


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len({(each.tool, each.message) for each in LABELLED}) >= 60
    assert min(len(SUSPICIOUS), len(ORDINARY)) >= 20
