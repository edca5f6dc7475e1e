"""All pages on a store: what they show, and what they say where there is nothing to show."""

import json
import re
import sqlite3
from contextlib import closing
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.features.serve.server import MountedApp, site
from misstep.rendering.html.assets import icon
from misstep.runs.reporting.case_bundles import case_detail, case_index
from misstep.store.runs import Store
from misstep.store.tables import STORE_VERSION
from misstep.web.server import OriginGuard
from tests.features.capability.curves import falling
from tests.features.consistency.stored_run import keep_run
from tests.features.serve.serving import served
from tests.features.serve.stored import KINDS, keep_every_kind, keep_outcomes
from tests.rendering.html.test_page import EVIL, outcome

BASE = "http://127.0.0.1:8000"
HOSTILE = "<script>alert(1)"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(store=str(tmp_path_factory.mktemp("site") / "store.db"))


@pytest.fixture(scope="module")
def kinds(settings: Settings) -> dict[str, str]:
    return keep_every_kind(settings)


@pytest.fixture
def fresh(tmp_path: Path) -> Settings:
    return Settings(store=str(tmp_path / "store.db"))


def browser(settings: Settings, *parts: MountedApp) -> TestClient:
    app = OriginGuard(site(settings, lambda: False, parts))
    return TestClient(app, base_url=BASE, follow_redirects=False)


def as_json(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


def links(page: httpx.Response) -> list[str]:
    return [unescape(each) for each in re.findall(r'href="([^"]*)"', page.text)]


def test_runs_are_listed_the_newest_first(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        page = client.get("/")
    order = re.findall(r'<th scope="row" class="id"><a href="/runs/(\w+)">', page.text)
    with Store(settings.store) as store:
        assert order == [run.id for run in store.list_runs()]
    assert set(kinds.values()) <= set(order)
    assert "sim:greedy · crosstalk" in page.text
    assert f"dissect of {kinds['test']}" in page.text
    assert page.text.count("<b>unfinished</b>") == 5  # those on tools were never closed


def test_looking_into_failures_has_no_rate(settings: Settings, kinds: dict[str, str]) -> None:
    """How often changed or chosen cases pass says nothing about the agent."""
    with browser(settings) as client:
        rows = client.get("/").text.split("<tr")
    told = {verb: next(row for row in rows if f"/runs/{run}" in row) for verb, run in kinds.items()}
    rated = {verb for verb, row in told.items() if " % to " in row}
    assert rated & {"dissect", "shrink", "capability"} == set()
    assert rated >= {"test", "fuzz", "files"}
    assert "failed" in told["dissect"]


def test_a_long_list_is_told_in_pages(fresh: Settings) -> None:
    for _ in range(51):
        keep_outcomes(fresh, [])
    with browser(fresh) as client:
        first, second, none = (client.get(f"/?page={page}") for page in (1, 2, 3))
        assert first.text.count('class="id"') == 50
        assert second.text.count('class="id"') == 1
        assert "?page=2" in first.text
        assert "no runs on this page" in none.text
        for given in ("0", "-1", "x", "9" * 30, "²", ""):
            assert client.get("/", params={"page": given}).status_code == 200


@pytest.mark.parametrize("verb", KINDS)
def test_every_kind_of_run_has_its_page(settings: Settings, kinds: dict[str, str], verb: str) -> None:
    with browser(settings) as client:
        page = client.get(f"/runs/{kinds[verb]}")
        assert page.status_code == 200
        assert kinds[verb] in page.text
        assert not re.search(r"\son\w+=|\sstyle=|<style", page.text)
        scripts = re.findall(r"<script([^>]*)>", page.text)
        assert all("src=" in each or "application/json" in each or "text/plain" in each for each in scripts)
        for address in links(page):
            if address.startswith("/"):
                assert client.get(address).status_code in (200, 303), address


def test_other_curves_stand_beside_that_of_a_run(
    settings: Settings, kinds: dict[str, str], tmp_path: Path
) -> None:
    kept, run = tmp_path / "kept.json", f"/runs/{kinds['capability']}"
    kept.write_bytes(msgspec.json.encode(falling("somebody else", range(2, 6), 3.0)))
    company = settings.overlay({"beside": (str(kept),), "published": True})
    with browser(settings) as client:
        assert "somebody else" not in client.get(run).text
    with browser(company) as client:
        page = client.get(run).text
        assert "somebody else: 50 % at n = 3.0" in page
        assert "GPT-4 in the PDoctor paper" in page
        kept.unlink()
        gone = client.get(run)
    assert (gone.status_code, "No such file or directory" in gone.text) == (400, True)


def test_the_cases_are_those_of_the_run(settings: Settings, kinds: dict[str, str]) -> None:
    run = kinds["test"]
    with browser(settings) as client:
        index = client.get(f"/runs/{run}/data/cases.json").json()
        assert index == as_json(case_index(settings, run))
        case = index["id"][0]
        assert client.get(f"/runs/{run}/data/cases/{case}.json").json() == as_json(
            case_detail(settings, run, case)
        )


def test_one_case_after_the_other(settings: Settings, kinds: dict[str, str]) -> None:
    """Next leads through all of the list, Previous back."""
    run = kinds["test"]
    ids = case_index(settings, run)["id"]
    with browser(settings) as client:
        way, path = list[str](), f"/runs/{run}/cases/{ids[0]}"
        while path:
            page = client.get(path)
            assert page.status_code == 200
            way.append(path.rpartition("/")[2])
            back = re.search(r'rel="prev" href="([^"]+)"', page.text)
            assert (back[1].rpartition("/")[2] if back else None) == (way[-2] if len(way) > 1 else None)
            found = re.search(r'rel="next" href="([^"]+)"', page.text)
            path = found[1] if found else ""
    assert way == ids


@pytest.mark.full
def test_cases_of_any_name_are_found(fresh: Settings) -> None:
    """Through a real server, which decodes addresses as servers do."""
    names = ["a/b", "x.json", "a b%2F", "ü☃", "?q=#x", "~", *EVIL[:-1]]
    run = keep_outcomes(fresh, [outcome(name) for name in names])
    with served(fresh.store) as server, httpx.Client(base_url=server.url, trust_env=False) as client:
        way, path = list[str](), f"/runs/{run}/cases/{quote('c1' + names[0], safe='')}"
        while path:
            page = client.get(path)
            assert page.status_code == 200
            assert "<script>alert" not in page.text
            (data,) = re.findall(r'data-source="([^"]+)"', page.text)
            assert client.get(unescape(data)).json()["calls"][0]["tool"].startswith("backup")
            way.append(unquote(path.rpartition("/")[2]))
            found = re.search(r'rel="next" href="([^"]+)"', page.text)
            path = unescape(found[1]) if found else ""
    assert way == [f"c1{name}" for name in names]


@pytest.mark.parametrize(
    "path",
    ["/runs/nothing", f"/runs/{HOSTILE}", "/runs/nothing/cases/x", "/runs/nothing/label", "/runs/%00"],
)
def test_a_run_that_there_is_not(settings: Settings, kinds: dict[str, str], path: str) -> None:
    with browser(settings) as client:
        page = client.get(path)
    assert page.status_code in (404, 400)
    assert "there is no run" in page.text
    assert HOSTILE not in page.text
    assert "Traceback" not in page.text
    if "label" not in path:
        assert f"/runs/{kinds['files']}" in links(page)


def test_a_case_that_there_is_not(settings: Settings, kinds: dict[str, str]) -> None:
    run = kinds["test"]
    with browser(settings) as client:
        page = client.get(f"/runs/{run}/cases/{HOSTILE}")
        assert page.status_code == 404
        assert HOSTILE not in page.text
        assert f"/runs/{run}" in links(page)
        assert any(link.startswith(f"/runs/{run}/cases/") for link in links(page))
        data = client.get(f"/runs/{run}/data/cases/nothing.json")
        assert (data.status_code, "there is no case" in data.json()["error"]) == (404, True)


def test_short_names_lead_to_the_whole(settings: Settings, kinds: dict[str, str]) -> None:
    run = kinds["files"]
    case = case_index(settings, kinds["test"])["id"][0]
    with browser(settings) as client:
        assert client.get(f"/runs/{run[:5]}").headers["location"] == f"/runs/{run}"
        assert client.get("/runs/last").headers["location"] == f"/runs/{run}"
        short = client.get(f"/runs/{kinds['test']}/cases/{case[:8]}")
        assert short.headers["location"] == f"/runs/{kinds['test']}/cases/{case}"


def test_two_runs_are_compared(fresh: Settings) -> None:
    fresh = fresh.overlay({"count": 20, "actions": Span(3, 5)})
    first = run_agent(fresh.overlay({"agent": "sim:perfect"})).run
    second = run_agent(fresh.overlay({"agent": "sim:idle"})).run
    with browser(fresh) as client:
        page = client.get("/compare", params={"first": first, "second": second})
        assert page.status_code == 200
        assert "<h1>sim:idle compared with sim:perfect</h1>" in page.text
        assert "-100.0<small> points</small>" in page.text
        assert "sim:perfect is better by 100.0 points" in page.text
        assert "Only sim:perfect passed: 20 cases" in page.text
        flipped = [link for link in links(page) if "/cases/" in link]
        assert len(flipped) == 40
        assert {link.split("/")[2] for link in flipped} == {first, second}
        assert client.get(flipped[0]).status_code == 200
        assert client.get(flipped[1]).status_code == 200
        name, again = flipped[0].rpartition("/")[2], client.get("/compare", params={"run": [second, first]})
        assert again.text == page.text  # the list of runs has the newest first
    with Store(fresh.store) as store:
        case = store.find_outcome(first, name).case
    assert escape(" ".join(case.sentences)) in page.text


def test_names_tell_compared_runs_apart(fresh: Settings) -> None:
    first, second = (run_agent(fresh.overlay({"agent": "sim:greedy", "count": 3})).run for _ in range(2))
    with browser(fresh) as client:
        page = client.get("/compare", params={"first": first, "second": second})
        assert f"sim:greedy ({second}) compared with sim:greedy ({first})" in page.text
        with Store(fresh.store) as store:
            store.name_run(first, "before")
        page = client.get("/compare", params={"first": first, "second": second})
    assert "sim:greedy compared with before" in page.text


def test_runs_are_deleted_after_a_question(fresh: Settings) -> None:
    runs = [run_agent(fresh.overlay({"agent": "sim:greedy", "count": 2})).run for _ in range(3)]
    with browser(fresh) as client:
        page = client.get("/delete", params={"run": runs[:2]})
        assert "Delete 2 runs?" in page.text
        (token,) = re.findall(r'name="token" value="([^"]+)"', page.text)
        (names,) = re.findall(r'name="runs" value="([^"]+)"', page.text)
        assert client.post("/delete", data={"runs": names}).status_code == 403
        assert client.post("/delete", data={"runs": names, "token": "x"}).status_code == 403
        with Store(fresh.store) as store:
            assert len(store.list_runs()) == 3
        done = client.post("/delete", data={"runs": names, "token": token}, follow_redirects=False)
        assert (done.status_code, done.headers["location"]) == (303, "/")
        with Store(fresh.store) as store:
            assert [run.id for run in store.list_runs()] == [runs[2]]
            with store.sit(runs[2], 0.0):  # it is in progress
                refused = client.post("/delete", data={"runs": runs[2], "token": token})
        assert refused.status_code == 400
        assert "in progress" in refused.text
        assert "there is no run" in client.get("/delete", params={"run": HOSTILE}).text
        assert HOSTILE not in client.get("/delete", params={"run": HOSTILE}).text
        assert "No run was selected" in client.get("/delete").text


def test_an_analysed_run_is_not_deleted_alone(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        page = client.get("/delete", params={"run": kinds["test"]})
    assert f"run {kinds['test']} is analysed by run" in page.text
    assert "<form" not in page.text


def test_the_trend_has_all_runs_of_the_same_command(fresh: Settings) -> None:
    greedy = fresh.overlay({"agent": "sim:greedy", "count": 4})
    same = [run_agent(greedy.overlay({"seed": seed})).run for seed in (1, 2)]
    others = [run_agent(fresh.overlay({"agent": "sim:idle", "count": 4})).run]
    others.append(run_agent(greedy.overlay({"actions": Span(2, 2)})).run)
    with browser(fresh) as client:
        page = client.get(f"/runs/{same[0]}/trend")
        found = links(page)
        assert all(found.count(f"/runs/{run}") == 2 for run in same)  # in the chart and the table
        assert not {f"/runs/{run}" for run in others} & {*found}
        assert f"/compare?first={same[0]}&second={same[1]}" in found
        listed = links(client.get("/"))
        assert {link for link in listed if link.endswith("/trend")} == {f"/runs/{run}/trend" for run in same}


def test_kinds_without_a_rate_have_no_trend(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        for verb in ("dissect", "shrink", "capability"):
            assert f"/runs/{kinds[verb]}/trend" not in links(client.get(f"/runs/{kinds[verb]}"))
            assert client.get(f"/runs/{kinds[verb]}/trend").status_code == 400


@pytest.mark.parametrize(
    ("verb", "parts"), [("fuzz", "findings"), ("consistency", "sets"), ("files", "tasks")]
)
def test_parts_have_pages_of_their_own(
    settings: Settings, kinds: dict[str, str], verb: str, parts: str
) -> None:
    with browser(settings) as client:
        page = client.get(f"/runs/{kinds[verb]}").text
        own = re.findall(rf'data-part="({parts}/[^"]+)"', page)
        assert own
        for each in own:
            assert client.get(f"/runs/{kinds[verb]}/{each}").status_code == 200
        short = client.get(f"/runs/{kinds[verb][:-1]}/{own[0]}", follow_redirects=False)
        assert (short.status_code, short.headers["location"]) == (307, f"/runs/{kinds[verb]}/{own[0]}")
        odd = client.get(f"/runs/{kinds[verb][:-1]}/{parts}/a%20b", follow_redirects=False)
        assert odd.headers["location"] == f"/runs/{kinds[verb]}/{parts}/a%20b"
        missing = client.get(f"/runs/{kinds[verb]}/{parts}/{quote(HOSTILE)}")
        assert missing.status_code == 404
        assert HOSTILE not in missing.text
        assert client.get(f"/runs/{kinds['test']}/{own[0]}").status_code == 404


@pytest.mark.full
def test_benchmarks_are_compared_by_their_tasks(settings: Settings, kinds: dict[str, str]) -> None:
    other = keep_every_kind(settings)["files"]
    with browser(settings) as client:
        page = client.get("/compare", params={"first": kinds["files"], "second": other})
    assert "No difference: the same of 2 tasks passed." in page.text
    assert "to a task" in page.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"first": "nothing", "second": "last"}, "there is no run"),
        ({"first": HOSTILE, "second": "last"}, "there is no run"),
        ({"first": "last", "second": "last"}, "both are run"),
        ({"first": "last"}, "select two runs"),
    ],
)
def test_what_can_not_be_compared(
    settings: Settings, kinds: dict[str, str], query: dict[str, str], said: str
) -> None:
    with browser(settings) as client:
        page = client.get("/compare", params=query)
    assert page.status_code == 400
    assert said in page.text
    assert '<select name="first"' in page.text
    assert HOSTILE not in page.text


def test_kinds_that_do_not_compare(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        for first in kinds.values():
            for second in kinds.values():
                page = client.get("/compare", params={"first": first, "second": second})
                assert page.status_code in (200, 400)
                assert "Traceback" not in page.text


def test_a_run_is_labelled_by_somebody(fresh: Settings) -> None:
    run = keep_run(fresh.store)
    with browser(fresh) as client:
        assert f"/runs/{run}/label" in links(client.get(f"/runs/{run}"))
        page = client.get(f"/runs/{run}/label")
        assert "There are 9;" in page.text
        (token,) = re.findall(r'name="token" value="([^"]+)"', page.text)
        begun = client.post(f"/runs/{run}/label", data={"token": token, "labeller": "ann / bö"})
        assert begun.status_code == 303
        item = client.get(begun.headers["location"], follow_redirects=True)
        assert "<b>1 of 9</b>" in item.text
        (action,) = re.findall(r'action="([^"]+)"', item.text)
        kept = client.post(unescape(action), data={"token": token, "label": "correct"}, follow_redirects=True)
        assert "<b>2 of 9</b>" in kept.text
        for address in links(item):
            assert address == icon() or client.get(address).status_code in (200, 303)
    with Store(fresh.store) as store:
        assert [label.labeller for label in store.labels(run)] == ["ann / bö"]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"labeller": "ann"}, 403),
        ({"token": "TOKEN", "labeller": " "}, 400),
        ({"token": "TOKEN", "labeller": "a\\b"}, 400),
        ({"token": "TOKEN"}, 400),
        ({"token": "TOKEN", "labeller": "a" * 61}, 400),
        ({"token": "TOKEN", "labeller": "a" * 6100}, 413),
    ],
)
def test_nobody_labels_without_a_name(fresh: Settings, form: dict[str, str], status: int) -> None:
    run = keep_run(fresh.store)
    with browser(fresh) as client:
        (token,) = re.findall(r'name="token" value="([^"]+)"', client.get(f"/runs/{run}/label").text)
        sent = {name: value.replace("TOKEN", token) for name, value in form.items()}
        assert client.post(f"/runs/{run}/label", data=sent).status_code == status


def test_there_may_be_nothing_to_label(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        for path in (f"/runs/{kinds['test']}/label", f"/runs/{kinds['test']}/label/ann/"):
            page = client.get(path)
            assert page.status_code == 400
            assert "has nothing to label" in page.text


def test_no_store_is_no_error(fresh: Settings) -> None:
    with browser(fresh) as client:
        assert "There are no runs yet" in client.get("/").text
        assert client.get("/compare").status_code == 200
        assert client.get("/runs/abc").status_code == 404
        assert client.get("/runs/abc/events").status_code == 404
    assert not Path(fresh.store).exists()


def test_a_store_of_a_newer_version(fresh: Settings) -> None:
    with Store(fresh.store, create=True):
        pass
    with closing(sqlite3.connect(fresh.store)) as connection:
        connection.execute(f"pragma user_version = {STORE_VERSION + 1}")
        connection.execute("update alembic_version set version_num = '9999'")
        connection.commit()
    refused(fresh, "newer")


def test_something_else_in_the_place_of_the_store(fresh: Settings) -> None:
    Path(fresh.store).write_text("Dear diary, " * 1000)
    refused(fresh, fresh.store)


def refused(settings: Settings, said: str) -> None:
    with browser(settings) as client:
        for path in ("/", "/runs/x", "/runs/x/cases/y", "/compare"):
            page = client.get(path)
            assert page.status_code == 503, path
            assert said in page.text
            assert "Traceback" not in page.text
            assert "<nav" in page.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/files/nothing.css", 404),
        ("GET", "/files/..%2Fpages.py", 404),
        ("POST", "/", 405),
        ("DELETE", "/compare", 405),
    ],
)
def test_pages_that_there_are_not(
    settings: Settings, kinds: dict[str, str], method: str, path: str, status: int
) -> None:
    with browser(settings) as client:
        page = client.request(method, path)
    assert page.status_code == status
    assert '<main id="main"' in page.text
    assert 'href="/compare"' in page.text


def test_heads_are_answered(settings: Settings, kinds: dict[str, str]) -> None:
    with browser(settings) as client:
        for path in ("/", f"/runs/{kinds['test']}", "/compare", "/files/web.css", "/nothing"):
            whole, head = client.get(path), client.head(path)
            assert (head.status_code, head.text) == (whole.status_code, "")


def test_every_page_leads_to_every_other(settings: Settings, kinds: dict[str, str]) -> None:
    def show(request: Any) -> PlainTextResponse:
        return PlainTextResponse(request.url.path)

    part = MountedApp("Playground", "/playground", Starlette(routes=[Route("/", show)]))
    with browser(settings, part) as client:
        page = client.get(f"/runs/{kinds['test']}")
        found = re.findall(r'<a href="([^"]+)"( aria-current="true")?>([^<]+)</a>', page.text)
        assert [(way, name) for way, _, name in found[:3]] == [
            ("/", "Runs"),
            ("/compare", "Compare"),
            ("/playground/", "Playground"),
        ]
        assert [name for _, current, name in found if current] == ["Runs"]
        compare = client.get("/compare").text
        assert re.findall(r'aria-current="true">([^<]+)', compare) == ["Compare"]
        assert client.get("/playground/").text == "/playground/"
