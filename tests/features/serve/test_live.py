"""A run that is watched while it goes on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from misstep.core.event import CaseFinished
from misstep.core.outcome import Usage
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.features.plan_test.run import run_agent
from misstep.features.serve.live import RunWatch
from misstep.features.serve.server import site
from misstep.runs.lookup import view_run
from misstep.store.runs import Store
from misstep.web.server import OriginGuard
from tests.features.serve.serving import served
from tests.features.serve.stored import keep_every_kind, keep_outcomes
from tests.rendering.html.test_page import outcome


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=str(tmp_path / "store.db"), agent="sim:greedy", count=30, jobs=1)


class Events:
    """What a stream says, event by event."""

    def __init__(self, answer: httpx.Response) -> None:
        assert answer.headers["content-type"].startswith("text/event-stream")
        self._lines = answer.iter_lines()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        name = ""
        for line in self._lines:
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, json.loads(line[6:])


def test_every_look_adds_what_is_new_to_what_was_seen(settings: Settings) -> None:
    """The watch, which adds up, agrees with the summary, which counts anew, after every single case."""
    watch: RunWatch | None = None
    seen = list[int]()

    def look(event: object) -> None:
        nonlocal watch
        if isinstance(event, CaseFinished):
            watch = watch or RunWatch(settings, event.run)
            progress, whole = watch.look(), view_run(settings, event.run, 0).summary
            assert (progress.live, progress.finished, progress.total) == (True, False, 30)
            assert progress.summary == whole
            seen.append(progress.done)

    run = run_agent(settings, look).run
    assert seen == sorted(seen)
    assert seen[-1] == 30
    assert watch
    last = watch.look()
    assert (last.finished, last.live, last.done) == (True, False, 30)
    assert last.summary == view_run(settings, run, 0).summary


def test_a_look_reads_nothing_twice(settings: Settings) -> None:
    run = keep_outcomes(settings, [outcome(str(number)) for number in range(5)], 9)
    with Store(settings.store) as store:
        tally, last = store.tally_since(run)
        assert tally.cases == 5
        again, same = store.tally_since(run, last)
        assert (again.cases, same) == (0, last)


@pytest.mark.full
def test_every_kind_of_run_can_be_watched(settings: Settings) -> None:
    for verb, run in keep_every_kind(settings).items():
        progress = RunWatch(settings, run).look()
        assert progress.summary == view_run(settings, run, 0).summary, verb


def test_what_was_spent_is_told(settings: Settings) -> None:
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings.overlay({"budget_tokens": 500}), 4, 0.0).id
        with store.sit(run, 0.0) as seat:
            seat.keep([outcome()], Spent({"agent": Usage(10, 20), "judge": Usage(5, 5)}, 7, 2.5))
    progress = RunWatch(settings, run).look()
    assert (progress.used.tokens, progress.used.calls, progress.budget.tokens) == (40, 7, 500)


@pytest.mark.full
def test_a_stream_tells_how_far_it_is_and_ends_with_the_run(settings: Settings) -> None:
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings, 3, 0.0)
        with (
            store.sit(run.id, 0.0) as seat,
            served(settings.store) as server,
            httpx.stream("GET", f"{server.url}runs/{run.id}/events", trust_env=False) as answer,
        ):
            events = iter(Events(answer))
            name, told = next(events)
            assert (name, told["done"], told["total"], told["live"]) == ("progress", 0, 3, True)
            seat.keep([outcome(), outcome("2")], Spent())
            told = next(told for _, told in events if told["done"] == 2)
            assert told["verdicts"] == {"passed": 0, "failed": 2, "inconclusive": 0, "errored": 0}
            assert told["success"] == "0.0 %"
            store.finish_run(run.id, view_run(settings, run.id, 0).summary)
            *_, before, last = events
    assert (before[0], before[1]["finished"], last) == ("progress", True, ("done", {}))


@pytest.mark.full
def test_trouble_with_the_store_is_told_and_passes(settings: Settings) -> None:
    run = keep_outcomes(settings, [outcome()], 3)
    path = Path(settings.store)
    with (
        served(settings.store) as server,
        httpx.stream("GET", f"{server.url}runs/{run}/events", trust_env=False) as answer,
    ):
        events = iter(Events(answer))
        assert next(events)[0] == "progress"
        kept = path.rename(path.with_name("away.db"))
        said = next(told for name, told in events if name == "trouble")["said"]
        assert "no store here yet" in said
        kept.rename(path)
        assert next(told for name, told in events if name == "progress")["done"] == 1


def test_a_server_ends_although_somebody_is_watching(settings: Settings) -> None:
    run = keep_outcomes(settings, [outcome()], 3)
    with (
        served(settings.store) as server,
        httpx.stream("GET", f"{server.url}runs/{run}/events", trust_env=False) as answer,
    ):
        events = iter(Events(answer))
        next(events)
        server.stop()
        assert [name for name, _ in events if name != "progress"] == []  # the stream has come to its end
    assert server.process.returncode == 0


def test_a_run_that_there_is_not_has_no_stream(settings: Settings) -> None:
    keep_outcomes(settings, [])
    with TestClient(OriginGuard(site(settings, lambda: False)), base_url="http://localhost") as client:
        assert client.get("/runs/nothing/events").status_code == 404
