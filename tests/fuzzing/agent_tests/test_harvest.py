"""What requests have shown, told apart, and put beside what the fuzzer has found."""

import json
from typing import Any

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import BY_REQUEST, AgentReach, ReachAttempt, Refusal, ToolReport
from misstep.core.results.trial import Judged, Ruling, Trial, Use
from misstep.core.tool import Invocation
from misstep.fuzzing.agent_tests.harvest import MOST, candidates_of, harvest, richness_of, stuck_at
from misstep.fuzzing.agent_tests.parties import trouble_with
from misstep.fuzzing.agent_tests.requests import MOST_REQUEST, requests_form
from misstep.fuzzing.triage.defect_index import chao1
from misstep.schemas.answers import FormatError


def use(ruling: Ruling, signature: str = "", tool: str = "t", **arguments: Any) -> Use:
    return Use(tool, json.dumps(arguments), "said", Judged(ruling, "why", signature, "Error"))


def reached(request: str, *uses: Use) -> ReachAttempt:
    return ReachAttempt("x", "reached", trials=(Trial(request, uses, "answer"),))


def finding(signature: str) -> Finding:
    call = Invocation("t", "{}")
    return Finding("x", "t", "crash", "Error", "", "", "", signature, (call,), (call,), 1)


def test_findings_get_their_requests_and_new_ones_are_added() -> None:
    report = ToolReport("t", 1, (finding("a"), finding("b")))
    journey = AgentReach(
        passages=(
            reached("one", use("fine"), use("crash", "a")),
            reached("two", use("crash", "c", number=1)),
            reached("three", use("fine"), use("crash", "c", number=2)),
        )
    )
    a, b, c = harvest(report, journey, "spec", {"t": "t of spec"})
    assert (a.request, b.request) == ("one", "")
    assert (c.request, c.seen, c.origin, c.found_after, c.spec) == ("two", 2, BY_REQUEST, 3, "spec")
    assert harvest(ToolReport("t", 1, (a, b, c)), journey, "spec", {"t": "t of spec"}) == [a, b, c]
    assert harvest(report, journey, "spec", {})[2].id != c.id
    richness = richness_of(journey.trials)
    assert richness is not None
    assert richness.estimate >= 2


def test_a_trial_is_one_sample_however_often_the_agent_tries() -> None:
    """Two defects, each met in one trial: nothing speaks for their having been met more often."""
    crash = use("crash", "a")
    stubborn, other = Trial("one", (crash, crash, crash)), Trial("two", (use("crash", "b"),))
    once = richness_of([Trial("one", (crash,)), other])
    assert richness_of([stubborn, other]) == once == chao1([1, 1])
    assert richness_of([stubborn, stubborn, other]) == chao1([2, 1])


def test_only_refusals_that_surprise_are_findings() -> None:
    refusals = (Refusal("t", "ValueError", "at most 3", "t.py:1 in t", '{"number": 4}', seen=2),)
    report = ToolReport("t", 1, refusals=refusals)
    (candidate,) = candidates_of(refusals, "spec", {})
    trial = Trial("four", (use("fine", number=1), use("refused", number=4)), "no")

    def harvested(fate: Any) -> list[Finding]:
        passage = ReachAttempt(candidate.id, fate, "nobody says so", "refusal", trials=(trial,))
        return harvest(report, AgentReach(passages=(passage,)), "spec", {})

    assert harvested("expected") == harvested("unmet") == harvested("inconclusive") == []
    (found,) = harvested("reached")
    assert (found.kind, found.request, len(found.calls)) == ("refusal", "four", 2)
    assert found.why.endswith("nobody says so")
    assert found.ruling == "refused"


def test_refusals_are_told_apart_by_their_words_and_the_most_frequent_come_first() -> None:
    same = [Refusal("t", "ValueError", f"{n} is too much", "", f'{{"number": {n}}}') for n in (40, 50)]
    assert len(candidates_of(same, "", {})) == 1
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "more", "most"]
    many = [Refusal("t", "ValueError", f"no {word} here", "", "{}", seen=at) for at, word in enumerate(words)]
    found = candidates_of(many, "", {})
    assert len(found) == MOST
    assert found[0].message == "no most here"


def test_an_agent_that_recovers_is_not_stuck() -> None:
    refused, fine, other = use("refused"), use("fine"), use("fine", tool="other")
    assert stuck_at(Trial("", (fine, refused)), "t") == 1
    assert stuck_at(Trial("", (refused, other)), "t") == 0
    assert stuck_at(Trial("", (refused, fine)), "t") is None
    assert stuck_at(Trial("", (other,)), "t") is None
    assert stuck_at(Trial("", (refused,), ended="timeout"), "t") is None


def test_trouble_is_no_news_of_the_tool() -> None:
    assert trouble_with(Trial("", ended="timeout")) == "the agent did not answer: timeout"
    assert trouble_with(Trial("", error="boom", ended="error")) == "the agent did not answer: boom"
    assert trouble_with(Trial("", (use("environment"),))) == "the tool does not work in this environment: why"
    assert trouble_with(Trial("", (use("fine"),))) == ""


def test_requests_are_read_each_once() -> None:
    read = requests_form(2).read
    assert read('{"requests": [" a ", "a", "b\\u0000", "c"]}') == ("a", "b\ufffd")
    assert read(json.dumps({"requests": ["", "x" * (MOST_REQUEST + 1), "b"]})) == ("b",)
    assert isinstance(read('{"requests": [" "]}'), FormatError)
    assert isinstance(read('{"requests": []}'), FormatError)
    assert isinstance(read("none"), FormatError)
