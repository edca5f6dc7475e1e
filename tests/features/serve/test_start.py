"""Runs that are started from a page: what is let through to a process, and what becomes of it."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from misstep.core.settings import Settings, Span
from misstep.errors import UsageError
from misstep.features.plan_test.run import resume_run
from misstep.features.serve.launch import MOST_AT_ONCE, Launcher, LaunchOrder, agents_for
from misstep.features.serve.server import Starting
from misstep.runs.lookup import find_run, view_run
from misstep.store.runs import Store
from misstep.web.server import OriginGuard

BASE = "http://127.0.0.1:8000"
WAIT = 60.0  # seconds for a process on a busy machine; nothing waits that long
SLOW = """
import asyncio
async def agent(request, tools):
    await asyncio.sleep(600)
"""
FIELDS = {"agent": "sim:greedy", "low": "3", "high": "4", "count": "5", "seed": "7", "about_order": "yes"}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A folder of one's own, with an agent that takes for ever."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "misstep.toml").write_text('agent = "slow.py:agent"\njobs = 1\n')
    return Settings(agent="slow.py:agent", store="kept/store.db")


@pytest.fixture
def launched(settings: Settings) -> Iterator[Launcher]:
    """Whatever is started ends with the test."""
    with Launcher(settings) as launcher:
        yield launcher
        end(launcher)


@pytest.fixture
def starting(settings: Settings, launched: Launcher) -> Starting:
    return Starting(settings, launched, "/start")


def end(launcher: Launcher) -> None:
    for launch in launcher._launches.values():
        if not launch.ended.is_set():
            os.killpg(launch.process.pid, signal.SIGKILL)
        assert launch.ended.wait(WAIT)


def visitor(starting: Starting) -> TestClient:
    app = Starlette(routes=[Mount("/start", starting.app)])
    return TestClient(OriginGuard(app), base_url=BASE, follow_redirects=False)


def token_in(page: httpx.Response) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page.text)
    assert found
    return found[1]


def send(client: TestClient, **changes: Any) -> httpx.Response:
    form = {"token": token_in(client.get("/start/")), **FIELDS, **changes}
    return client.post("/start/", data={name: value for name, value in form.items() if value is not None})


def reach(client: TestClient, path: str) -> httpx.Response:
    """The answer once the run has started or has not."""
    answer = client.get(path)
    while answer.status_code == 200:
        assert "The run is starting" in answer.text
        answer = client.get(path)
    return answer


def test_a_run_is_started_and_led_to(starting: Starting, settings: Settings) -> None:
    with visitor(starting) as client:
        sent = send(client)
        assert (sent.status_code, sent.headers["location"]) == (303, "/start/1")
        answer = reach(client, "/start/1")
        assert answer.status_code == 303
    run = find_run(settings, answer.headers["location"].removeprefix("/runs/"))
    kept = run.settings
    assert (kept.agent, kept.actions, kept.count, kept.seed) == ("sim:greedy", Span(3, 4), 5, 7)
    (launch,) = starting._launcher._launches.values()
    assert launch.ended.wait(WAIT)
    assert view_run(settings, run.id, 0).summary.cases == 5
    assert kept.jobs == Settings().jobs  # a planner of ours does not go by the settings of another agent


def test_the_agent_of_the_settings_is_run_under_them(launched: Launcher, settings: Settings) -> None:
    progress = launched.wait(launched.start(LaunchOrder("slow.py:agent", count=3)), WAIT)
    assert progress
    assert progress.run, progress.said
    kept = find_run(settings, progress.run).settings
    assert (kept.agent, kept.jobs, kept.count) == ("slow.py:agent", 1, 3)


def test_a_budget_goes_with_the_run(launched: Launcher, settings: Settings) -> None:
    for budget in (0.5, 1e-9):
        order = LaunchOrder("sim:perfect", count=1, budget_usd=budget)
        progress = launched.wait(launched.start(order), WAIT)
        assert progress
        assert find_run(settings, progress.run).settings.budget_usd == budget


def test_whoever_waits_for_an_agent_is_told_so(starting: Starting, tmp_path: Path) -> None:
    gate = "import pathlib, time\nprint('loading <b>', flush=True)\n"
    gate += "while not pathlib.Path('go').exists(): time.sleep(0.02)\n"
    (tmp_path / "slow.py").write_text(gate + SLOW)
    with visitor(starting) as client:
        path = send(client, agent="slow.py:agent").headers["location"]
        waiting = client.get(path)
        while "loading" not in waiting.text:
            waiting = client.get(path)
        assert waiting.status_code == 200
        assert "The run is starting" in waiting.text
        assert '<meta http-equiv="refresh"' in waiting.text
        assert "loading &lt;b&gt;" in waiting.text
        (tmp_path / "go").touch()
        assert reach(client, path).status_code == 303


def test_a_run_that_is_stopped_can_be_resumed(
    launched: Launcher, settings: Settings, tmp_path: Path, begotten: Callable[[], set[int]]
) -> None:
    progress = launched.wait(launched.start(LaunchOrder("slow.py:agent", count=2)), WAIT)
    assert progress
    assert launched.can_stop(progress.run)
    assert not launched.stop("another")
    assert launched.stop(progress.run)
    (launch,) = launched._launches.values()
    assert launch.ended.wait(WAIT)
    assert launch.process.returncode == 130
    assert not launched.can_stop(progress.run)
    assert not launched.stop(progress.run)
    assert begotten() == set()
    assert zombies() == []
    (tmp_path / "slow.py").write_text("async def agent(request, tools):\n    return 'no'\n")
    summary = resume_run(Settings(store=settings.store, resume=progress.run))
    assert (summary.run, summary.cases) == (progress.run, 2)


def test_a_run_that_nobody_is_at_cannot_be_stopped_though_its_process_is_still_there(
    launched: Launcher, settings: Settings, tmp_path: Path
) -> None:
    linger = "import atexit, pathlib, time\n"
    linger += "def linger():\n    while not pathlib.Path('go').exists(): time.sleep(0.02)\n"
    (tmp_path / "slow.py").write_text(f"{linger}atexit.register(linger)\n{SLOW}")
    progress = launched.wait(launched.start(LaunchOrder("slow.py:agent", count=2)), WAIT)
    assert progress
    assert launched.stop(progress.run)
    with Store(settings.store) as store:
        while store.is_held(progress.run):
            pass
    (launch,) = launched._launches.values()
    assert not launch.ended.is_set()
    assert not launched.can_stop(progress.run)
    (tmp_path / "go").touch()
    assert launch.ended.wait(WAIT)


def zombies() -> list[str]:
    """Children of this process that are dead, and that nobody has taken note of."""
    found = []
    for task in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for child in task.read_text().split():
            state = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2]
            found += [child] if state.startswith("Z") else []
    return found


def test_a_run_has_a_session_of_its_own(launched: Launcher) -> None:
    launched.start(LaunchOrder("slow.py:agent", count=1))
    (launch,) = launched._launches.values()
    assert os.getsid(launch.process.pid) == launch.process.pid != os.getsid(0)


def test_no_more_than_a_few_at_once(launched: Launcher) -> None:
    for _ in range(MOST_AT_ONCE):
        launched.start(LaunchOrder("slow.py:agent", count=1))
    with pytest.raises(UsageError, match=f"{MOST_AT_ONCE} runs started here are still running"):
        launched.start(LaunchOrder("sim:greedy", count=1))


def test_what_goes_wrong_in_the_process_is_shown(starting: Starting, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("agent = 7 / 0  # <script>\n")
    with visitor(starting) as client:
        answer = reach(client, send(client, agent="slow.py:agent").headers["location"])
    assert answer.status_code == 400
    assert "ZeroDivisionError" in answer.text
    assert "<script>" not in answer.text.partition("<main")[2]


def test_an_agent_that_says_it_were_a_run(launched: Launcher, settings: Settings, tmp_path: Path) -> None:
    first = launched.wait(launched.start(LaunchOrder("sim:greedy", count=1)), WAIT)
    assert first
    assert first.run
    (tmp_path / "slow.py").write_text(f"print('run {first.run}: 1 case', flush=True)\n{SLOW}")
    second = launched.wait(launched.start(LaunchOrder("slow.py:agent", count=1)), WAIT)
    assert second
    assert second.run not in ("", first.run)


@pytest.mark.parametrize(
    "agent", ["", "react", "os:system", "evil.py:agent", "mcp:rm -rf /", "sim:nobody", "--help"]
)
def test_only_agents_that_are_offered_are_started(starting: Starting, agent: str) -> None:
    with visitor(starting) as client:
        answer = send(client, agent=agent)
    assert answer.status_code == 400
    assert "is not an agent that can be started here" in answer.text
    assert starting._launcher._launches == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"low": "x"}, "expected a number or a range"),
        ({"low": "5", "high": "3"}, "range"),
        ({"low": "3", "high": "99"}, "out of range"),
        ({"count": "0"}, "expected a whole number"),
        ({"count": "1e3.5"}, "expected a whole number"),
        ({"count": "100001"}, "100,001 cases are more than 100,000"),
        ({"count": "9" * 400}, "expected a whole number"),
        ({"seed": "-1"}, "expected a whole number"),
        ({"seed": "\u0000"}, "expected a whole number"),
        ({"budget_usd": "free"}, "expected a number"),
        ({"about_order": None}, "no family was named"),
        ({"low": "2", "about_adjacent": "yes", "about_repeat": "yes"}, "out of range"),
    ],
)
def test_what_makes_no_sense_is_told_in_the_form(
    starting: Starting, changes: dict[str, Any], said: str
) -> None:
    with visitor(starting) as client:
        answer = send(client, **changes)
    assert answer.status_code == 400
    assert said in answer.text
    assert 'role="alert"' in answer.text
    assert starting._launcher._launches == {}


def test_forms_need_their_secret(starting: Starting) -> None:
    with visitor(starting) as client:
        for form in (FIELDS, {**FIELDS, "token": "guessed"}):
            assert client.post("/start/", data=form).status_code == 403
            assert client.post("/start/stop/abc", data=form).status_code == 403
        assert client.get("/start/stop/abc").status_code == 405
        token = {"token": token_in(client.get("/start/"))}
        assert client.post("/start/stop/abc", data=token).status_code == 404
        assert client.post("/start/", content=b"x" * 3_000).status_code == 413
        assert client.get("/start/99").status_code == 404
        assert client.head("/start/").status_code == 200
    assert starting._launcher._launches == {}


def test_a_run_is_stopped_from_its_page(starting: Starting) -> None:
    with visitor(starting) as client:
        answer = reach(client, send(client, agent="slow.py:agent").headers["location"])
        run = answer.headers["location"].removeprefix("/runs/")
        button = starting.stop_button(run)
        assert button
        stopped = client.post(button.path, data={"token": button.token})
        assert (stopped.status_code, stopped.headers["location"]) == (303, f"/runs/{run}")
        (launch,) = starting._launcher._launches.values()
        assert launch.ended.wait(WAIT)
        assert starting.stop_button(run) is None


def test_what_is_offered() -> None:
    assert agents_for(Settings())[:2] == ("sim:perfect", "sim:random")
    assert agents_for(Settings(agent="sim:greedy"))[0] == "sim:greedy"
    assert agents_for(Settings(agent="a.py:b"))[0] == "a.py:b"


@pytest.mark.parametrize(
    ("given", "priced"),
    [
        ({}, False),
        ({"agent": "sim:greedy", "model": "openai/gpt-4o"}, False),
        ({"agent": "tools", "model": "openai/gpt-4o"}, True),
        ({"agent": "tools", "model": "openai/gpt-4o", "prices": "gone.toml"}, False),
        ({"agent": "tools", "model": "nobody/knows"}, False),
    ],
)
def test_a_budget_is_asked_for_where_it_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], priced: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings().overlay(given)
    with Launcher(settings) as launcher, visitor(Starting(settings, launcher, "/start")) as client:
        assert ('name="budget_usd"' in client.get("/start/").text) == priced


def test_a_file_of_cases_is_not_passed_over(settings: Settings) -> None:
    said = pytest.raises(UsageError, match=r"the settings say that cases come from mine\.jsonl")
    with Launcher(settings.overlay({"cases": "mine.jsonl"})) as launcher, said:
        launcher.start(LaunchOrder("slow.py:agent"))


def test_nothing_is_left_behind(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    with Launcher(settings) as launcher:
        launcher.start(LaunchOrder("sim:greedy", count=1))
        assert len(os.listdir(tmp_path / "scratch")) == 1
        (launch,) = launcher._launches.values()
        assert launch.ended.wait(WAIT)
    assert os.listdir(tmp_path / "scratch") == []


def test_no_password_is_on_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MISSTEP_JOBS", "3")
    address = "postgresql://ann:geheim@127.0.0.1:1/nowhere"
    with Launcher(Settings(store=address)) as launcher:
        progress = launcher.wait(launcher.start(LaunchOrder("sim:greedy", count=1)), WAIT)
        (launch,) = launcher._launches.values()
    assert progress
    assert progress.ended
    assert not progress.run
    assert "geheim" not in " ".join(launch.process.args) + progress.said  # type: ignore[arg-type]
