"""`misstep tool fuzz --agent` as it is typed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.fuzzing.agent_tests.bills import GOOD, REQUEST, SOURCE, agent
from tests.fuzzing.agent_tests.scripted_roles import always, fenced_in, plays
from tests.scripted import ScriptedServer, calling

SHORT = ("--calls-per-tool", "30", "--display", "none", "--jobs", "1", "--max-steps", "5")
PLAN = agent(
    {
        REQUEST: [calling("split_bill", total=120, people=0)],
        "A room for 3 weeks": [calling("book_room", nights=21)],
    }
)


def requests(prompt: str) -> object:
    is_room = "Name: book_room" in fenced_in(prompt)[0]
    return {"requests": ["A room for 3 weeks" if is_room else REQUEST]}


ANSWERS = {
    **GOOD,
    "request": requests,
    "refusal": always({"reason": "nothing is said about two weeks", "surprising": True}),
    "foretold": always({"reason": "nobody could know", "foreseen": False}),
    "crashes-greybox": always({"requests": [REQUEST]}),
}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """What makes a command use an agent, all of whose models are scripted."""
    (tmp_path / "bills.py").write_text(SOURCE)
    with ScriptedServer(plays(ANSWERS, PLAN)) as server:
        yield "--agent", "tools", "--model", "x", "--model-base-url", server.base_url, "--retries", "0"


def test_a_crash_is_shown_with_its_request_and_replayed(
    tmp_path: Path, misstep: Command, model: tuple[str, ...]
) -> None:
    reports = ("--report", "html,ndjson", "--report-dir", "out")
    printed = misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT, *reports)
    assert printed.code == 1
    assert f"asked for with: {REQUEST}" in printed.out
    assert "through the agent (toolfuzz)" in printed.out
    assert "of 1 tried with the agent: 1 documented (100.0 %, 20.7 – 100.0 %)" in printed.out
    shown = json.loads(misstep("show", "last", "--json").out)
    (tool,) = shown["tools"]
    (finding,) = tool["findings"]
    through = tool["through_agent"]
    assert (finding["request"], through["unique_errors"], through["calls_per_error"]) == (REQUEST, 1, 1.0)
    assert through["stages"]["reached"]["count"] == 1
    assert through["passages"][0]["trials"][0]["calls"][0]["error"] == "ZeroDivisionError"
    assert REQUEST in misstep("show", "last", finding["id"]).out
    again = misstep("replay", f"last/{finding['id']}")
    assert (again.code, REQUEST in again.out, "as before" in again.out) == (1, True, True)
    (page,) = (tmp_path / "out").glob("*.html")
    assert "Through the agent (toolfuzz)" in page.read_text()
    assert REQUEST in page.read_text()
    (events,) = (tmp_path / "out").glob("*.ndjson")
    last = [json.loads(line) for line in events.read_text().splitlines()][-2]
    assert last["report"]["journey"]["passages"][0]["fate"] == "reached"


def test_the_sanity_check_is_shown_with_its_finding(misstep: Command, model: tuple[str, ...]) -> None:
    misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT)
    (tool,) = json.loads(misstep("show", "last", "--json").out)["tools"]
    (finding,) = tool["findings"]
    lines = [line.strip() for line in misstep("show", f"last/{finding['id']}").out.splitlines()]
    at = lines.index("instructed to make exactly these calls on inert tools, the agent made them")
    assert lines[at - 1] == f"{finding['id']} reached"
    assert lines[at + 1 : at + 3] == ['split_bill({"total": 120, "people": 0})', "Done."]
    assert finding["arguments"] == {"total": 0, "people": 0}, "the smallest call is what is shown"
    told = json.loads(misstep("show", f"last/{finding['id']}", "--json").out)["through_agent"]
    assert (told["documented"], told["rehearsal"]["answer"]) == (True, "Done.")
    assert tool["through_agent"]["passages"] == [told]


def test_what_nobody_asked_is_no_share(tmp_path: Path, misstep: Command, model: tuple[str, ...]) -> None:
    page = ("--report", "html", "--report-dir", "out")
    printed = misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT, *page, "--skip-sanity")
    assert "of 1 tried with the agent: – documented (not asked), 1 asked for (100.0 %" in printed.out
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["split_bill", "1", "–", "1", "1", "0"] in rows
    (tool,) = json.loads(misstep("show", "last", "--json").out)["tools"]
    through = tool["through_agent"]
    nothing = {"count": None, "of": 0, "share": None, "low": None, "high": None}
    assert through["stages"]["documented"] == nothing
    assert (through["passages"][0]["documented"], through["passages"][0]["rehearsal"]) == (None, None)
    (page_text,) = [path.read_text() for path in (tmp_path / "out").glob("*.html")]
    assert "– documented (not asked)" in page_text
    misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT, "--method", "greybox", "--count", "1")
    (tool,) = json.loads(misstep("show", "last", "--json").out)["tools"]
    assert tool["through_agent"]["stages"]["documented"] == nothing


def test_a_refusal_is_replayed_and_written_as_a_test_that_wants_it_taken(
    tmp_path: Path, misstep: Command, model: tuple[str, ...]
) -> None:
    emit = ("--emit", "pytest", "--out", "test_bills.py")
    printed = misstep("tool", "fuzz", "bills.py:book_room", *model, *SHORT, *emit)
    assert printed.code == 1
    assert "refusal  ValueError" in printed.out
    assert "the documentation allows this call, but the tool refuses it" in printed.out
    (finding,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    again = misstep("replay", f"last/{finding['id']}")
    assert (again.code, "as before" in again.out) == (1, True)
    assert "assert judged.ruling in ('fine',), told" in (tmp_path / "test_bills.py").read_text()
    taken = SOURCE.replace("if nights > 14:", "if nights > 1400:")
    (tmp_path / "bills.py").write_text(taken)
    fixed = misstep("replay", f"last/{finding['id']}")
    assert (fixed.code, "was before: refusal" in fixed.out) == (0, True)


def test_a_budget_ends_the_run_which_goes_on(
    tmp_path: Path, misstep: Command, model: tuple[str, ...]
) -> None:
    printed = misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT, "--budget-tokens", "1")
    assert printed.code == 3
    assert "resume with: misstep tool fuzz --resume" in printed.err
    assert "stopped early" in printed.out
    shown = json.loads(misstep("show", "last", "--json").out)
    calls = shown["tools"][0]["calls"]
    more = ("--budget-tokens", "1000000", "--json", "--display", "none")
    resumed = json.loads(misstep("tool", "fuzz", "--resume", "last", *more).out)
    assert resumed["tools"][0]["findings"][0]["request"] == REQUEST
    assert resumed["tools"][0]["calls"] == calls


def test_a_baseline_is_reported_like_the_fuzzer(misstep: Command, model: tuple[str, ...]) -> None:
    method = ("--method", "greybox", "--count", "1")
    printed = misstep("tool", "fuzz", "bills.py:split_bill", *model, *SHORT, *method)
    assert printed.code == 1
    assert "through the agent (greybox)" in printed.out
    assert "found by a natural request, seen once" in printed.out
    assert "tried with the agent" not in printed.out
    (tool,) = json.loads(misstep("show", "last", "--json").out)["tools"]
    assert (tool["calls"], tool["through_agent"]["method"]) == (0, "greybox")
    labels: dict[str, Any] = json.loads(misstep("label", "last", "--json").out)
    assert (labels["items"], labels["discovered"]) == (1, 1)


def test_what_could_not_be_judged_is_not_called_sound(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "bills.py").write_text(SOURCE)
    with ScriptedServer(plays({"crashes-whitebox": always("no")})) as server:
        given = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
        printed = misstep("tool", "fuzz", "bills.py:split_bill", *given, *SHORT, "--method", "whitebox")
    assert "no defects found; 1 could not be judged" in printed.out
    assert misstep("runs").code == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--method", "greybox"), "--method greybox requires --agent"),
        (("--method", "greyboks"), "expected one of greybox, toolfuzz, whitebox"),
        (("--agent", "tools", "--model", "x", "--prompts", "nowhere"), "can't be read"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, misstep: Command, given: tuple[str, ...], told: str) -> None:
    (tmp_path / "bills.py").write_text(SOURCE)
    base = ("--model-base-url", "http://127.0.0.1:9/v1")
    printed = misstep("tool", "fuzz", "bills.py:split_bill", *base, *given)
    assert printed.code == 2
    assert told in printed.err


def test_what_a_run_has_fixed_can_not_be_changed(misstep: Command) -> None:
    printed = misstep("tool", "fuzz", "--resume", "last", "--method", "greybox")
    assert printed.code == 2
    assert "--method can't be combined with --resume" in printed.err
