"""What a search for better words is told of an earlier run, and what it is not."""

import pytest

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import AgentReach, ReachAttempt, ToolReport
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.tool import Invocation
from misstep.errors import UsageError
from misstep.fuzzing.descriptions.evidence import FixEvidence, evidence_of_fuzzing, split

SMALLEST = Invocation("track_order", '{"order": ""}')
MADE = Use(
    "track_order", '{"order": "4711"}', "IndexError", Judged("crash", signature="s", error="IndexError")
)


def evidence(*requests: str) -> FixEvidence:
    """A run in which the first request led to the defect, and the others were not put any more."""
    found = Finding("f", "track_order", "crash", "IndexError", "", "", "", "s", (SMALLEST,), (SMALLEST,), 1)
    passage = ReachAttempt("f", "reached", requests=requests, trials=(Trial(requests[0], (MADE,), "no"),))
    report = ToolReport("track_order", 1, (found,), journey=AgentReach(passages=(passage,)))
    return evidence_of_fuzzing([report], "track_order", "track_order")


def test_a_request_that_was_not_tried_is_not_bad() -> None:
    first, second = evidence("Where is 4711?", "Where is 4712?").asked
    assert (first.bad, first.tried) == (True, True)
    assert (second.bad, second.tried, second.told) == (False, False, "")


def test_no_call_is_told_that_was_not_made_for_the_request() -> None:
    _, examples = split(evidence("Where is 4711?", "Where is 4712?", "Where is 4713?"), 0, None)
    (told,) = examples
    assert told == (
        'Request: Where is 4711?\nCall: track_order({"order": "4711"})\nResult: IndexError\nAnswer: no'
    )


def test_requests_that_were_not_tried_are_shared_out() -> None:
    trying, _ = split(evidence("bad", "one", "two", "three"), 0, None)
    parts = [each.part for each in trying]
    assert (parts.count("validation"), parts.count("test")) == (2, 2)
    assert next(each.part for each in trying if each.request == "bad") == "validation", "it is learned from"


def test_one_bad_request_and_nothing_left_to_try_is_too_few() -> None:
    with pytest.raises(UsageError, match="only one request"):
        split(evidence("Where is 4711?"), 0, None)
