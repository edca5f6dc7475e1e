"""`misstep runs`, `show` and `replay`, whole."""

import json
from pathlib import Path

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import Before
from misstep.core.outcome import Call, Outcome, Transcript
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.planning.judging.check import check
from misstep.store.runs import Store
from tests.conftest import Command
from tests.snapshots import check_snapshot

MAKES_ONE = "the first run creates it, e.g. misstep plan test or misstep tool fuzz"


@pytest.fixture
def greedy(misstep: Command) -> str:
    """The id of a stored run with failures."""
    result = misstep(
        "plan", "test", "--agent", "sim:greedy", "--count", "12", "--seed", "4", "--json", "--display", "none"
    )
    return str(json.loads(result.out)["run"])


def test_runs(misstep: Command, greedy: str) -> None:
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "5", "--json")
    result = misstep("runs")
    assert result.code == 0
    assert greedy in result.out.splitlines()[2]
    check_snapshot("runs", result.out)
    listed = json.loads(misstep("runs", "--json").out)["runs"]
    assert [line["agent"] for line in listed] == ["sim:perfect", "sim:greedy"]


def test_show_a_run(misstep: Command, greedy: str) -> None:
    result = misstep("show", greedy)
    assert result.code == 0
    check_snapshot("show-run", result.out)
    assert misstep("show", greedy[:4]).out == misstep("show", "last").out == result.out
    assert json.loads(misstep("show", greedy, "--json").out)["run"] == greedy


def test_show_says_how_much_it_leaves_out(misstep: Command, greedy: str) -> None:
    failed = json.loads(misstep("show", greedy, "--json").out)["failed"]
    assert (
        f"… and {failed - 1} more: --most {failed} lists them all"
        in misstep("show", greedy, "--most", "1").out
    )
    assert "more: --most" not in misstep("show", greedy, "--most", str(failed)).out


def test_show_a_case_and_replay_it(misstep: Command, greedy: str, tmp_path: Path) -> None:
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        case = next(store.outcomes(greedy, "failed")).case.id
    shown = misstep("show", greedy, case)
    check_snapshot("show-case", shown.out)
    assert misstep("show", f"{greedy}/{case[:6]}").out == shown.out
    replayed = misstep("replay", f"{greedy}/{case}")
    assert replayed.code == 1
    assert replayed.out.splitlines()[:-1] == shown.out.splitlines()[:-1]
    assert replayed.out.splitlines()[-1].startswith("as before: failed, order at step ")
    assert json.loads(misstep("replay", f"{greedy}/{case}", "--json").out)["verdict"]["error"] == "order"


@pytest.mark.parametrize(
    "arguments", [("runs",), ("show", "last"), ("replay", "a/b"), ("plan", "test", "--resume", "x")]
)
def test_without_a_store(misstep: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err == f".misstep/store.db  no store here yet\n  {MAKES_ONE}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("show", "zzzzzz"), "there is no run 'zzzzzz'\n  misstep runs lists them"),
        (("show", "last", "nope"), "there is no case 'nope' in run"),
        (("replay", "last"), "'last' does not name a case\n  expected RUN/CASE, as misstep show prints it"),
        (("replay", "last/nope"), "there is no case 'nope'"),
    ],
)
def test_what_is_not_in_the_store(
    misstep: Command, greedy: str, arguments: tuple[str, ...], complaint: str
) -> None:
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err


@pytest.mark.parametrize(
    ("agent", "gate", "code"),
    [("sim:perfect", "any", 0), ("sim:greedy", "any", 1), ("sim:greedy", "none", 0)],
)
def test_a_finished_run_that_is_resumed_ends_as_it_did(
    misstep: Command, agent: str, gate: str, code: int
) -> None:
    flags = ("--json", "--display", "none", "--fail-on", gate)
    first = misstep("plan", "test", "--agent", agent, "--count", "10", *flags)
    again = misstep("plan", "test", "--resume", "last", *flags)
    assert (first.code, again.code) == (code, code)
    assert again.out == first.out
    assert json.loads(misstep("runs", "--json").out)["runs"][0]["done"] == 10


def test_hostile_text_cannot_drive_the_terminal(misstep: Command, tmp_path: Path) -> None:
    """An escape sequence, markup and a direction mark in every place that comes from outside."""
    evil = "\x1b]0;owned\x07[red]x[/red][/bold]\n\nverdict\n  passed\u202e\x9b2J\u2066\u200f"
    case = Case(
        CASE_VERSION,
        "c1",
        0,
        evil,
        evil,
        (Action("a1", evil, "one"), Action("a2", evil + "2", "two")),
        (Before("a1", "a2", 0),),
        sentences=(evil,),
    )
    calls = (Call("two", {}, evil), Call("one", {"k": evil}), Call(evil, evil))
    with Store(str(tmp_path / ".misstep" / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent=evil), 2, 0.0).id
        for number, made in enumerate((calls, (Call("two"), Call("one")))):
            named = msgspec.structs.replace(case, id=f"c{number}{evil}")
            transcript = Transcript(named.id, made, answer=evil, error=evil)
            with store.sit(run, 0.0) as seat:
                seat.keep([Outcome(named, transcript, check(named, transcript))], Spent())
    for arguments in (("runs",), ("show", run), ("show", run, f"c0{evil}"), ("show", run, f"c1{evil}")):
        result = misstep(*arguments)
        assert result.code == 0
        assert not set(result.out) & set("\x1b\x07\u202e\x9b\u2066\u200f")
        assert result.out.count("\nverdict\n") <= 1
    assert "[red]x[/red]" in misstep("show", run, "c1").out
    told = misstep("show", run, evil)
    assert told.code == 2
    assert not set(told.err) & set("\x1b\x07\u202e\x9b")
