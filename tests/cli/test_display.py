"""Progress on the screen: never more often than people can see, always right at the end."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from msgspec import structs

from misstep.cli.display import (
    FindingsSoFar,
    LiveDisplay,
    NoDisplay,
    PlainDisplay,
    ProgressSoFar,
    make_display,
)
from misstep.core.event import CaseFinished, FindingMade, ItemStarted, Notice, RunStarted, ToolFinished
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.settings import Settings
from misstep.planning.synthesis.suite import Suite, make_case
from tests.features.tool_fuzz.test_view import FINDING

CASE = make_case(Suite(0, 3, 3), 0)
NEVER = 0.0001  # redraws a second


def finished(passed: bool) -> CaseFinished:
    verdict = Verdict(CASE.id, "passed" if passed else "failed")
    return CaseFinished("r1", Outcome(CASE, Transcript(CASE.id, ()), verdict))


class Watched(io.StringIO):
    """A terminal that counts how often something is written to it."""

    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.writes = 0
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)

    @property
    def plainly(self) -> str:
        """Without what moves the cursor and colours the text."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_the_bar_is_not_drawn_for_every_case_and_right_at_the_end() -> None:
    stream = Watched()
    with LiveDisplay(stream, redraws=NEVER) as display:
        display(RunStarted("r1", 20_000, {}))
        before = stream.writes
        for number in range(20_000):
            display(finished(number % 4 > 0))
        assert stream.writes == before
    assert stream.writes < 20
    assert "20000/20000 passed 15000  failed 5000" in stream.plainly


def test_tools_in_flight_are_named_the_longest_first() -> None:
    now = 100.0
    progress = ProgressSoFar(RunStarted("r1", 5, {}, unit="tool"), lambda: now)
    assert progress.running == ""
    for name in ("search", "discount", "order\x1b[2J", "cancel"):
        progress.start(ItemStarted("r1", name))
        now += 3
    assert progress.running == "search (12 s), discount (9 s), order\\u001b[2J (6 s) and 1 more"
    progress.add(ToolFinished("r1", ToolReport("search", 0)))
    assert progress.running == "discount (9 s), order\\u001b[2J (6 s), cancel (3 s)"


def test_a_log_says_what_is_tested_and_what_was_found_the_worst_first() -> None:
    worse = structs.replace(FINDING, id="f2", kind="security", error="path outside", replayed=0, reproduced=0)
    other = structs.replace(worse, id="f3", kind="hang", where="shop.py:3 in wait", tool="order")
    stream = Watched(terminal=False)
    with PlainDisplay(stream, lambda: 0.0) as display:
        display(RunStarted("r1", 3, {}, unit="tool"))
        for name in (FINDING.tool, "order", "(together) of shop"):
            display(ItemStarted("r1", name, "shop"))
        for finding in (FINDING, worse, other):
            display(FindingMade("r1", finding, "shop"))
        display(ToolFinished("r1", ToolReport(FINDING.tool, 5, (FINDING,), unconfirmed=(worse,))))
        display(ToolFinished("r1", ToolReport("order", 5)))  # where it was not shown again
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if line.startswith("  ")] == [
        "  testing order of shop (0 s), (together) of shop (0 s)",
        "  found 3 defects (2 not confirmed yet): 1 security, 1 hang, 1 crash; "
        f"the worst: security in {FINDING.tool} of shop: path outside",
        "  testing (together) of shop (0 s)",
        "  found 2 defects (1 not confirmed yet): 1 security, 1 crash; "
        f"the worst: security in {FINDING.tool} of shop: path outside",
    ]


def test_what_several_tools_together_do_not_show_again_is_not_counted() -> None:
    waiting = structs.replace(FINDING, replayed=0, reproduced=0)
    found = FindingsSoFar()
    found.add(FindingMade("r1", waiting, "shop", "(together) of shop"))
    found.confirm(ToolReport(waiting.tool, 5))  # another target
    assert "1 defect (1 not confirmed yet)" in found.words
    found.confirm(ToolReport("(together) of shop", 5))
    assert found.words == ""


def test_findings_are_told_while_a_report_takes_them_back() -> None:
    """As when the thread that draws is interrupted between counting them and naming the worst."""
    found = FindingsSoFar()

    class Interrupting(Finding, frozen=True):
        @property
        def marks(self) -> tuple[str, ...]:
            found.confirm(ToolReport(self.tool, 5))
            return super().marks

    facts = structs.asdict(FINDING)
    found.add(FindingMade("r1", Interrupting(**facts)))
    assert "1 crash; the worst: crash in" in found.words
    assert found.words == ""


def test_cases_in_flight_are_counted() -> None:
    now = 100.0
    progress = ProgressSoFar(RunStarted("r1", 5, {}), lambda: now)
    progress.start(ItemStarted("r1", CASE.id))
    now += 7
    progress.start(ItemStarted("r1", "other"))
    assert progress.running == "2 cases, the longest for 7 s"
    progress.add(finished(True))
    assert progress.running == "1 case, the longest for 0 s"


def test_the_bar_shows_what_is_in_flight() -> None:
    stream = Watched()
    with LiveDisplay(stream, redraws=NEVER) as display:
        display(RunStarted("r1", 2, {}))
        display(ItemStarted("r1", CASE.id))
    assert "running 1 case, the longest for 0 s" in stream.plainly


def test_the_bar_goes_on_where_an_earlier_sitting_ended() -> None:
    stream = Watched()
    with LiveDisplay(stream, redraws=NEVER) as display:
        display(RunStarted("r1", 10, {"passed": 6, "errored": 1}))
        display(finished(False))
    assert "run r1: 10 cases, 7 of them done before" in stream.plainly
    assert "8/10 passed 6  failed 1  errored 1" in stream.plainly


@pytest.mark.parametrize("kind", [LiveDisplay, PlainDisplay])
def test_a_finding_that_nobody_has_replayed_yet_is_told_as_unconfirmed(
    kind: type[LiveDisplay] | type[PlainDisplay],
) -> None:
    stream = Watched()
    with kind(stream) as display:
        display(RunStarted("r1", 2, {}, unit="tool"))
        display(FindingMade("r1", structs.replace(FINDING, replayed=0, reproduced=0)))
        display(FindingMade("r1", structs.replace(FINDING, tool="other", replayed=3), "shop"))
    first, second = [
        line for line in stream.plainly.splitlines() if "UnicodeEncodeError" in line and "(after" in line
    ]
    assert first.rstrip().endswith("(after 17 calls, not confirmed yet)")
    assert second.rstrip().endswith("(after 17 calls)")
    assert " in other of shop: " in second


def test_a_log_gets_about_ten_lines() -> None:
    stream = Watched(terminal=False)
    with PlainDisplay(stream, lambda: 0.0) as display:
        display(RunStarted("r1", 5_000, {}))
        for _ in range(5_000):
            display(finished(True))
        display(Notice("that was all"))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "run r1: 5000 cases"
    assert lines[-2:] == ["5000/5000  passed 5000  failed 0", "that was all"]
    assert len(lines) == 12


@pytest.mark.parametrize(
    ("asked", "terminal", "kind"),
    [
        ("auto", True, LiveDisplay),
        ("auto", False, PlainDisplay),
        ("rich", False, LiveDisplay),
        ("plain", True, PlainDisplay),
        ("none", True, NoDisplay),
    ],
)
def test_the_kind_goes_by_the_real_stream(asked: str, terminal: bool, kind: type) -> None:
    settings = Settings(display=asked)  # type: ignore[arg-type]
    assert type(make_display(settings, Watched(terminal))) is kind


def read_all(master: int) -> str:
    data = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux says so when nobody holds the other end any longer
            return data.decode()
        if not chunk:
            return data.decode()
        data += chunk


def test_on_a_terminal_the_agents_lines_stand_above_the_bar(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys, time\n"
        "def agent(request, tools):\n"
        "    print('hello \\x1b[31mfrom the agent', sys.stdout.isatty(), sys.stderr.isatty())\n"
        "    time.sleep(0.3)\n"
        "    return 'done'\n"
    )
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 64, 0, 0))
    flags = ("--agent", "mine.py:agent", "--count", "3", "--jobs", "1", "--json", "--fail-on", "none")
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS" and not k.startswith("MISSTEP_")}
    with subprocess.Popen(
        [sys.executable, "-m", "misstep", "plan", "test", *flags],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=slave,
    ) as process:
        os.close(slave)
        shown = read_all(master)
        os.close(master)
        assert process.stdout is not None
        assert process.stdout.read().startswith(b'{"run":')
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", shown)]
    assert lines.count("hello \\u001b[31mfrom the agent False False") == 3
    bars = [line for line in lines if "/3" in line]
    assert "3/3 passed 0  failed 3" in bars[-1]
    assert all(len(bar) <= 64 for bar in bars)
