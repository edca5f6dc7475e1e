"""Events as JSON lines: each is there at once, whole, and after those that were there before."""

import io
import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep.cli.reports import NdjsonReport
from misstep.core.event import CaseFinished, Event, Notice, RunFinished, RunStarted
from misstep.core.outcome import Call, Outcome, Transcript, Verdict
from misstep.core.results.summary import Tally
from misstep.errors import StoreError
from misstep.planning.synthesis.suite import Suite, make_case

CASE = make_case(Suite(0, 3, 3), 0)
OUTCOME = Outcome(
    CASE, Transcript(CASE.id, (Call("x", {"a": "line\nbreak\u2028"}),)), Verdict(CASE.id, "failed", "act")
)
EVENTS: list[Event] = [
    Notice("loading"),
    RunStarted("r1", 1, {}),
    CaseFinished("r1", OUTCOME),
    RunFinished("r1", Tally().summary("r1", "me")),
]


def read(path: Path) -> list[Any]:
    return [msgspec.json.decode(line, type=Event) for line in path.read_bytes().splitlines()]


def test_every_event_is_a_line_that_reads_as_the_event_it_was(tmp_path: Path) -> None:
    with NdjsonReport(f"{tmp_path}/events.ndjson") as report:
        for event in EVENTS:
            report(event)
    assert read(tmp_path / "events.ndjson") == EVENTS
    kinds = [
        msgspec.json.decode(line)["type"] for line in (tmp_path / "events.ndjson").read_bytes().splitlines()
    ]
    assert kinds == ["notice", "run_started", "case_finished", "run_finished"]


def test_an_event_can_be_read_as_soon_as_it_is_told(tmp_path: Path) -> None:
    with NdjsonReport(f"{tmp_path}/events.ndjson") as report:
        for number, event in enumerate(EVENTS, 1):
            report(event)
            assert len(read(tmp_path / "events.ndjson")) == number


@pytest.mark.parametrize("torn", [b"", b'{"type":"notice","te', b"\n"])
def test_lines_are_added_after_whatever_is_there(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "events.ndjson"
    before = msgspec.json.encode(EVENTS[0]) + b"\n" + torn
    path.write_bytes(before)
    with NdjsonReport(str(path)) as report:
        report(EVENTS[1])
    gap = b"" if before.endswith(b"\n") else b"\n"
    assert path.read_bytes() == before + gap + msgspec.json.encode(EVENTS[1]) + b"\n"


def test_standard_output_is_written_to_and_stays_open() -> None:
    stdout = io.BytesIO()
    with NdjsonReport("-", stdout) as report:
        report(EVENTS[0])
    assert stdout.getvalue() == b'{"type":"notice","text":"loading"}\n'


def test_a_place_that_can_t_be_written_to_is_named(tmp_path: Path) -> None:
    where = f"{tmp_path}/nowhere/events.ndjson"
    with pytest.raises(StoreError, match="No such file") as caught, NdjsonReport(where):
        pass
    assert caught.value.where == where


def test_a_full_disk_is_told_once() -> None:
    with NdjsonReport("/dev/full") as report:
        with pytest.raises(StoreError, match="No space left on device") as caught:
            report(EVENTS[0])
        report(EVENTS[1])
    assert caught.value.where == "/dev/full"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    with NdjsonReport(str(path)) as report:
        report(EVENTS[0])
    reader.join(30)
    assert got == [b'{"type":"notice","text":"loading"}\n']
