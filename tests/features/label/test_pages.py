"""Labelling in a browser: the pages, and who is kept from them."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from misstep.core.results.label import Item
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.settings import Settings
from misstep.features.label.pages import labelling_app
from misstep.features.label.run import Labelling, open_labelling
from misstep.web.server import OriginGuard
from tests.features.consistency.stored_run import HIDDEN, keep_run

BASE = "http://127.0.0.1:8000"
KEYS = '<script type="module" src="/files/labelling.js"></script>'  # the only script


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=str(tmp_path / "store.db"))


@pytest.fixture
def labelling(settings: Settings) -> Iterator[Labelling]:
    with open_labelling(settings, keep_run(settings.store), "ann") as labelling:
        yield labelling


def browser(app: Any) -> TestClient:
    return TestClient(app, base_url=BASE, follow_redirects=False)


def token_in(page: httpx.Response) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page.text)
    assert found
    return found[1]


def test_a_person_labels_everything(labelling: Labelling) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        page = client.get("/", follow_redirects=True)
        token = token_in(page)
        for number in range(1, 10):
            assert page.url.path == f"/item/{number}"
            assert f"<b>{number} of 9</b>" in page.text
            form = {"token": token, "label": "erroneous" if number % 2 else "correct"}
            page = client.post(f"/item/{number}", data=form, follow_redirects=True)
        assert page.url.path == "/done"
        assert "false discoveries" in page.text
        assert "all tools" in page.text
        again = client.get("/item/1")
        assert 'class="bad said"' in again.text
        assert sum(labelling.answers().values()) == 5


def test_nothing_but_what_happened_is_on_the_page(labelling: Labelling) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        for number in range(1, 10):
            page = (client.get(f"/item/{number}")).text
            told = (*HIDDEN, "never shown", "failed", "passed", "discover", "crash", labelling.items[0].id)
            assert not [word for word in told if word in page]
            assert "Tell me of" in page
        assert "false discoveries" not in (client.get("/done")).text


def test_labels_are_changed_one_after_the_other(labelling: Labelling) -> None:
    for place in (0, 1, 8):
        labelling.keep(place, True)
    with browser(OriginGuard(labelling_app(labelling))) as client:
        token, ways = token_in(client.get("/item/1")), []
        for number, said in ((1, "correct"), (2, "skip"), (3, "skip"), (9, "correct")):
            answer = client.post(f"/item/{number}", data={"token": token, "label": said})
            ways.append(answer.headers["location"])
    assert ways == ["/item/2", "/item/3", "/item/4", "/done"]
    kept = labelling.answers()
    assert [kept[labelling.items[place].id] for place in (0, 1, 8)] == [False, True, False]


def test_skipped_ones_come_again(labelling: Labelling) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        token = token_in(client.get("/item/9"))
        page = client.post("/item/9", data={"token": token, "label": "skip"}, follow_redirects=True)
        assert "9 of 9 have no label yet" in page.text
        assert labelling.answers() == {}


def test_texts_can_be_nothing_but_text(settings: Settings, labelling: Labelling) -> None:
    bad = "<script>alert(1)</script>\x1b[2J\u202e{{ 7 * 7 }}"
    trial = Trial(bad, (Use(bad, '{"a": "</pre><b>"}', bad, Judged("fine")),), bad)
    hostile = Labelling(labelling._store, labelling.run, [Item("x", "t", (trial,), True)], "ann<i>")
    with browser(OriginGuard(labelling_app(hostile))) as client:
        page = (client.get("/item/1")).text
    assert page.count("<script") == page.count(KEYS) == 1
    assert "<b>{" not in page
    assert "<i>" not in page
    assert "{{ 7 * 7 }}" in page
    assert not set(page) & {"\x1b", "\u202e"}


def test_every_answer_forbids_foreign_scripts_and_frames(labelling: Labelling) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        for path in (
            "/",
            "/item/1",
            "/done",
            "/files/web.css",
            "/files/labelling.css",
            "/files/report.js",
            "/nothing",
            "/item/99",
        ):
            headers = (client.get(path)).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["cache-control"] == "no-store"
            assert headers["referrer-policy"] == "same-origin"  # else a browser's own forms come from "null"
        page = (client.get("/item/1")).text.replace(KEYS, "", 1)
        assert not re.search(r"<script|\son\w+=|\sstyle=|<style", page)
        assert (client.get("/files/labelling.js")).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example:8000", "", "127.0.0.1:80:80"])
def test_another_name_leads_nowhere(labelling: Labelling, host: str) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        answer = client.get("/item/1", headers={"host": host})
    assert answer.status_code == 403
    assert "token" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_can_send_nothing(labelling: Labelling, headers: dict[str, str]) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        form = {"token": token_in(client.get("/item/1")), "label": "correct"}
        assert (client.post("/item/1", data=form, headers=headers)).status_code == 403
        assert labelling.answers() == {}
        assert (client.post("/item/1", data=form, headers={"origin": BASE})).status_code == 303
        assert len(labelling.answers()) == 1


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/item/1", {"label": "correct"}, 403),
        ("/item/1", {"label": "correct", "token": "ü"}, 403),
        ("/item/1", {"token": "TOKEN"}, 400),
        ("/item/1", {"token": "TOKEN", "label": "perhaps"}, 400),
        ("/item/0", {"token": "TOKEN", "label": "correct"}, 404),
        ("/item/10", {"token": "TOKEN", "label": "correct"}, 404),
        ("/item/1", {"token": "TOKEN", "label": "correct" * 1000}, 413),
        ("/done", {"token": "TOKEN", "label": "correct"}, 405),
    ],
)
def test_what_is_sent_has_to_be_a_form_of_ours(
    labelling: Labelling, path: str, form: dict[str, str], status: int
) -> None:
    with browser(OriginGuard(labelling_app(labelling))) as client:
        token = token_in(client.get("/item/1"))
        sent = {name: value.replace("TOKEN", token) for name, value in form.items()}
        assert (client.post(path, data=sent)).status_code == status
    assert labelling.answers() == {}


def test_it_can_stand_under_any_path(labelling: Labelling) -> None:
    app = OriginGuard(Starlette(routes=[Mount("/runs/label", labelling_app(labelling))]))
    with browser(app) as client:
        page = client.get("/runs/label/", follow_redirects=True)
        assert page.url.path == "/runs/label/item/1"
        assert 'href="/runs/label/files/labelling.css"' in page.text
        form = {"token": token_in(page), "label": "correct"}
        answer = client.post("/runs/label/item/1", data=form)
        assert answer.headers["location"] == "/runs/label/item/2"


def test_the_command_serves_on_loopback_until_it_is_stopped(settings: Settings) -> None:
    run = keep_run(settings.store)
    command = [sys.executable, "-m", "misstep", "label", run, "--labeller", "ann", "--web"]
    with subprocess.Popen(
        [*command, "--store", settings.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr
            url = process.stderr.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            assert httpx.get(url.partition("?")[0], trust_env=False).status_code == 403
            with httpx.Client(trust_env=False) as client:
                page = client.get(url, follow_redirects=True)
                assert page.url.path == "/item/1"
                form = {"token": token_in(page), "label": "correct"}
                assert client.post(page.url, data=form).status_code == 303
        finally:
            process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 0
    assert "8 items left" in out
