"""What is shown of cross-talk, whatever the names and the requests hold."""

import json

from misstep.core.results.crosstalk import CrosstalkReport, GroupReport
from misstep.core.results.summary import Tally
from misstep.core.results.trial import Judged, Trial, Use
from misstep.features.crosstalk.view import crosstalk_as_json, crosstalk_view, noise
from misstep.rendering.html.page import RunPage, run_page
from tests.rendering.screens import shown

EVIL = "\x1b[2J[red]x\u202e"


def noisy(count: int) -> CrosstalkReport:
    use = Use(EVIL, json.dumps({"q": EVIL}), EVIL, Judged("fine"))
    trials = tuple(Trial(f"{EVIL} {number}", (use,), EVIL) for number in range(count))
    broken = Trial("no", (use,), "", ended="error", error=EVIL)
    first = GroupReport(EVIL, ("a",), (EVIL,), trials=(*trials, broken), sandbox="none")
    return CrosstalkReport("r", ("a.py",), (first, GroupReport("quiet", (EVIL,), ("a",), why="no requests")))


def test_hostile_text_is_spelt_out() -> None:
    text = shown(crosstalk_view(noisy(1)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]x" in text
    assert "1 of 1 request led to tools of other groups" in text
    assert "quiet: no requests" in text


def test_a_call_that_is_wrapped_keeps_its_indent() -> None:
    use = Use("find", json.dumps({"q": "words " * 20}), "", Judged("fine"))
    group = GroupReport("a", ("here",), ("find",), trials=(Trial("please", (use,), ""),))
    lines = shown(crosstalk_view(CrosstalkReport("r", ("a.py",), (group,))), 80).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("    find("))
    assert lines[at + 1].startswith("    words")


def test_a_page_tells_the_same_in_harmless_text() -> None:
    page = run_page(RunPage(Tally().summary("r", EVIL), tuple(noise(noisy(2)))))
    assert not {"\x1b", "\u202e"} & set(page)
    assert "2 of 2 requests led to tools of other groups" in page
    for title in (
        "Groups",
        "Calls between groups",
        "Tools called by mistake",
        "Requests",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<details>") == 2
    quiet = CrosstalkReport("r", (), (GroupReport("quiet", ("a",), ("b",), why="no requests"),))
    silent = run_page(RunPage(Tally().summary("r", "a"), tuple(noise(quiet))))
    assert "no request could be judged" in silent
    assert "Requests" not in silent


def test_no_more_requests_than_asked_for() -> None:
    text = shown(crosstalk_view(noisy(5), 2))
    assert "… and 3 more" in text
    assert text.count("[red]x\\u202e 1") == 1
    assert "[red]x\\u202e 2" not in text


def test_json_tells_all() -> None:
    told = json.loads(json.dumps(crosstalk_as_json(noisy(2))))
    assert [each["verdict"] for each in told["groups"][0]["requests"]] == ["failed", "failed", "inconclusive"]
    assert told["tools"][0]["by_group"] == {EVIL: 2}
    assert told["groups"][1]["rate"] is None


def test_a_run_without_groups_and_one_without_judgement() -> None:
    assert "there are no groups yet" in shown(crosstalk_view(CrosstalkReport("r", (), ())))
    empty = GroupReport("files", ("a",), ("b",), why="no requests")
    assert "no request could be judged" in shown(crosstalk_view(CrosstalkReport("r", (), (empty,))))
