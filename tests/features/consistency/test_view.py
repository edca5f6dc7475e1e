"""What is shown of sets of requests that mean the same."""

import json

from misstep.core.outcome import Judgement, Usage
from misstep.core.results.consistency import (
    Bucket,
    Buckets,
    ConsistencyReport,
    ConsistencyRun,
    Evidence,
    Expectation,
    PromptSet,
    Score,
    Side,
)
from misstep.core.results.summary import Tally
from misstep.core.results.trial import Trial
from misstep.features.consistency.view import (
    consistency_as_json,
    consistency_view,
    faulty_sets,
    set_as_json,
    set_detail,
)
from misstep.rendering.html.page import RunPage, run_page
from tests.rendering.screens import shown

NASTY = "\x1b[31m\u202e<b>[red]\n\ud800"


def a_set(verdict: Judgement = "failed", text: str = "plain") -> PromptSet:
    buckets = Buckets((Bucket((1, 2), text),), (Bucket((1,), text), Bucket((2,), "other")))
    side = Side(1, text, text, text, text, 3)
    return PromptSet(
        "abc",
        verdict,
        text,
        f"{text} [place]",
        {"place": (text, "there")},
        (text, "second"),
        (Trial(text, answer=text), Trial("second", error=text, ended="error")),
        buckets,
        buckets,
        Expectation((text,), text),
        (Score(1, 3, text, 4, text), Score(2, 9, text)),
        Evidence(side, side),
    )


def a_run(*sets: PromptSet, name: str = "tool", **more: object) -> ConsistencyRun:
    tool = ConsistencyReport(name, sets, usage={"agent": Usage(1000, 200)}, **more)  # type: ignore[arg-type]
    return ConsistencyRun("run", ("a.py:b",), (tool,), 1.0)


def test_texts_from_outside_are_harmless_everywhere() -> None:
    report = a_run(a_set(text=NASTY), a_set("inconclusive", NASTY), name=NASTY, notes=(NASTY,))
    page = run_page(RunPage(Tally().summary("run", "agent"), tuple(faulty_sets(report, ""))))
    for text in (shown(consistency_view(report, "again")), shown(set_detail(a_set(text=NASTY), NASTY)), page):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\\u001b[31m" in text
    assert "<b>[red]" not in page
    assert "&lt;b&gt;[red]" in page
    assert json.loads(json.dumps(consistency_as_json(report)))["tools"][0]["name"] == NASTY


def test_what_was_left_out_is_said() -> None:
    text = shown(set_detail(a_set(), "tool"))
    assert "buckets of outputs, ignoring irrelevant differences" in text
    assert "3 of 10: plain; asked again, 4: plain" in text


def test_the_table_adds_up() -> None:
    report = a_run(a_set(), a_set("passed"), a_set("inconclusive"), ended="time")
    lines = shown(consistency_view(report, "misstep replay run", " --store x")).splitlines()
    assert lines[1].split() == ["tool", "3", "1", "1", "1", "1", "0", "1,200"]
    assert any("time ran out before all sets were made" in line for line in lines)
    assert "  Replay: misstep replay run/abc --store x" in [line.rstrip() for line in lines]


def test_a_command_that_is_wrapped_keeps_its_indent() -> None:
    lines = shown(consistency_view(a_run(a_set()), "misstep replay run", " --store " + "x" * 90)).splitlines()
    at = lines.index("  Replay: misstep replay run/abc --store")
    assert lines[at + 1] == f"  {'x' * 90}"


def test_a_narrow_terminal_gets_everything() -> None:
    text = shown(consistency_view(a_run(a_set()), "again"), 40)
    assert "template: plain [place]" in text


def test_json_has_the_same_fields_whatever_is_known() -> None:
    bare = set_as_json(PromptSet("x", "inconclusive"), "tool")
    assert bare.keys() == set_as_json(a_set(), "tool").keys()
    assert (bare["expectation"], bare["evidence"], bare["normalised"], bare["scores"]) == (
        None,
        None,
        None,
        [],
    )


def test_calls_in_a_bucket_are_on_lines_of_their_own() -> None:
    told = '{"end": "Rome"}\n{"end": "Pisa"}'
    lines = [line.strip() for line in shown(consistency_view(a_run(a_set(text=told)), "again")).splitlines()]
    at = lines.index('{1, 2}  {"end": "Rome"}')
    assert lines[at + 1] == '{"end": "Pisa"}'
    page = run_page(RunPage(Tally().summary("run", "agent"), tuple(faulty_sets(a_run(a_set(text=told)), ""))))
    assert "Rome&quot;}\n{&quot;end" in page


def test_what_nobody_knows_is_not_called_sound() -> None:
    for report in (a_run(), a_run(ended="time"), a_run(a_set("inconclusive"))):
        page = run_page(RunPage(Tally().summary("run", "agent"), tuple(faulty_sets(report, ""))))
        for text in (shown(consistency_view(report, "again")), page):
            assert "no set failed" in text
            assert "nothing is known about tool" in text
    assert "nothing is known" not in shown(consistency_view(a_run(a_set("passed")), "again"))
