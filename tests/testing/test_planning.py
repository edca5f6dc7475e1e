"""`misstep.test_planning`, with whatever can be called an agent."""

import asyncio
import os
import re
import signal
import threading
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep import Answer, Assignment, Toolbox
from misstep.core.event import CaseFinished, Event
from misstep.core.settings import Settings
from misstep.errors import Interrupted
from misstep.runs.executor import replay


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def in_the_order_given(request: str, tools: list[Any]) -> str:
    for tool in tools:
        tool()
    return "<b>done</b><script>alert(1)</script>"


class Careless:
    name = "careless"

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        return Answer("done")


def test_pytest_does_not_take_them_for_tests() -> None:
    assert not misstep.test_planning.__test__  # type: ignore[attr-defined]
    assert not misstep.test_tools.__test__  # type: ignore[attr-defined]


def test_an_object_is_tested_and_shown() -> None:
    result = misstep.test_planning(Careless(), actions=(3, 4), count=7)
    assert (result.success, result.summary.failed, result.summary.agent) == (0.0, 7, "careless")
    assert result.interval == result.summary.interval
    assert len(result.failures) == 7
    assert {len(outcome.case.actions) for outcome in result.failures} == {3, 4}
    assert repr(result).startswith(
        f"PlanningResult(run='{result.run}', agent='careless', cases=7, success=0.0"
    )
    text = str(result)
    assert "The " in text
    assert "were never carried out" in text
    assert f"Show all: misstep show {result.run}\n" in f"{text}\n"
    command = re.search(r'Replay: result\.replay\("(\w+)"\)', text)
    assert command
    assert result.replay(command[1]).verdict.error == "lost"


def test_names_of_agents_are_taken_as_on_the_command_line() -> None:
    result = misstep.test_planning("sim:greedy", count=20, seed=3)
    assert result.summary.passed == misstep.run_agent(Settings(agent="sim:greedy", count=20, seed=3)).passed
    assert f"Replay: misstep replay {result.run}/" in str(result)


def test_what_a_module_has_is_found_again_by_later_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function, and an object that only a name leads to."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "agents_of_mine.py").write_text(
        "class Silent:\n"
        "    name = 'silent'\n"
        "    async def run(self, assignment, toolbox):\n"
        "        from misstep import Answer\n"
        "        return Answer('no')\n\n"
        "def idle(request, tools):\n    return 'no'\n\n"
        "silent = Silent()\n"
    )
    import agents_of_mine  # type: ignore[import-not-found]

    for agent, name in ((agents_of_mine.idle, "idle"), (agents_of_mine.silent, "silent")):
        result = misstep.test_planning(agent, count=2)
        assert result.summary.agent == f"agents_of_mine.py:{name}"
        before, after = replay(Settings(), f"{result.run}/{result.failures[0].case.id}")
        assert before.verdict == after.verdict


def test_it_works_inside_a_running_loop() -> None:
    async def cell() -> Any:
        result = misstep.test_planning(in_the_order_given, count=5)
        assert result.replay(result.failures[0].case.id).verdict.verdict == "failed"
        return result

    result = asyncio.run(cell())
    assert result.summary.cases == 5
    assert result.summary.failed == len(result.failures)


def test_an_interrupt_reaches_a_run_beside_a_loop() -> None:
    """What had finished is kept, and the error says how to go on."""
    begun, heard = threading.Event(), list[Event]()

    def slow(request: str, tools: list[Any]) -> str:
        begun.set()
        threading.Event().wait(60)
        return "late"

    def interrupt() -> None:
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    async def cell() -> None:
        threading.Thread(target=interrupt, daemon=True).start()
        misstep.test_planning(slow, count=3, listen=heard.append)

    loop = asyncio.new_event_loop()  # which does not listen for interrupts itself, like that of a notebook
    try:
        with pytest.raises(Interrupted, match="finished cases are stored"):
            loop.run_until_complete(cell())
    finally:
        loop.close()
    assert not [event for event in heard if isinstance(event, CaseFinished)]


def test_settings_of_project_and_keywords(tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text('count = 3\nactions = "5"\nstore = "runs/mine.db"\n')
    result = misstep.test_planning("sim:perfect", actions=2)
    assert (result.summary.cases, result.settings.actions.high) == (3, 2)
    assert (tmp_path / "runs/mine.db").exists()
    assert "--store runs/mine.db" in str(result)


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    ("sim:perfect", {"conut": 3}, r"test_planning\(\)  there is no 'conut' here\n  Did you mean 'count'"),
    ("sim:perfect", {"variants": 3}, "that setting does not apply here"),
    ("sim:perfect", {"count": 0}, r"test_planning\(\)  invalid value 0 for count"),
    ("sim:perfect", {"actions": (5, 3)}, "actions 5-3 is an empty range"),
    (None, {}, "None returns no agent"),
    (42, {}, "is a int, which is not an agent"),
    (in_the_order_given, {"record_proxy": True}, "record_proxy requires an agent given by name"),
]


def test_notebooks_show_errors_without_a_traceback() -> None:
    with pytest.raises(misstep.UsageError) as caught:
        misstep.test_planning("sim:perfect", conut=3)
    shown = ["test_planning()  there is no 'conut' here", "  Did you mean 'count'?"]
    assert caught.value._render_traceback_() == shown


@pytest.mark.parametrize(("agent", "settings", "words"), WRONG)
def test_what_is_wrong_is_said(agent: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(misstep.UsageError, match=words):
        misstep.test_planning(agent, **settings)


class Tags(HTMLParser):
    """The elements of a piece of HTML, and whether all of them are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen, self.open = set[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_shows_it_with_scripts_only_in_a_sandbox() -> None:
    result = misstep.test_planning(in_the_order_given, actions=3, count=12)
    shown = result._repr_html_()
    tags = Tags()
    tags.feed(shown)
    assert not tags.open
    assert tags.seen <= {
        *("b", "code", "details", "div", "i", "iframe", "li", "ol", "p", "pre", "span", "style", "summary"),
    }
    ((frame, pictures),) = re.findall(r'<iframe ([^>]*) srcdoc="([^"]*)"></iframe>', shown)
    assert frame.split('sandbox="')[1] == 'allow-scripts"'  # without the origin of the notebook
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', unescape(pictures))
    assert policy
    assert unescape(policy[1]).startswith("default-src 'none'; script-src 'sha256-")
    shown = shown.replace(pictures, "")
    assert "http" not in shown
    assert "← misstep" in shown
    assert f"misstep show {result.run}" in shown
    assert shown.count("<details>") == min(10, result.summary.failed)


def test_hostile_names_stay_text() -> None:
    def agent(request: str, tools: list[Any]) -> str:
        return "no"

    agent.__name__ = "<script>alert(1)</script>\x1b[31m"
    result = misstep.test_planning(agent, count=1)
    assert "<script>" not in result._repr_html_()
    assert "\x1b" not in result._repr_html_() + str(result) + repr(result)
