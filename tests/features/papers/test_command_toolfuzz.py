"""`misstep paper toolfuzz`: every method once, on a tool that is at fault in both ways."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.core.results.label import Label
from misstep.features.papers.toolfuzz import NAMES, load_paper
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.store.runs import Store
from tests.conftest import Command
from tests.fuzzing.agent_tests.bills import EXACTLY, REQUEST, told_calls
from tests.fuzzing.agent_tests.bills import GOOD as CRASHING
from tests.fuzzing.agent_tests.scripted_roles import Answer, always, fenced_in, plays
from tests.scripted import Call, Fault, ScriptedServer, calling

TOOL = '''
def split_bill(total: int, people: int) -> str:
    """Split a bill between people."""
    return f"{total // people} each"
'''

CALM = "Split 90 between 3, please."


def listed(prompt: str) -> object:
    return {"requests": [f"hi, {request}" for request in json.loads(fenced_in(prompt)[0])]}


ANSWERS: dict[Stage, Answer] = {
    **CRASHING,
    "crashes-whitebox": always({"requests": [REQUEST]}),
    "crashes-greybox": always({"requests": [CALM]}),
    "answers-whitebox": always({"requests": [CALM]}),
    "answers-greybox": always({"requests": [CALM]}),
    "correct": always({"reason": "it is 30", "correct": True}),
    "templates": always({"templates": ["Split [sum] between [friends]."]}),
    "infills": always({"infills": {"sum": ["90 euros", "90 EUR"], "friends": ["three", "3"]}}),
    "humanise": listed,
    "emulate": always({"answer": "30 each"}),
    "majority": always({"statement": "30 each"}),
    "judge": lambda prompt: {"reason": "why not", "score": 9 if "30" in fenced_in(prompt)[1] else 1},
}


def agent(request: str, tools: list[str]) -> Sequence[Call]:
    if request.startswith(EXACTLY):
        return told_calls(request)
    people = 0 if request == REQUEST else 3 if "3" in request else 4
    return [calling("split_bill", total=90, people=people)]


@pytest.mark.full
def test_all_methods_on_one_tool(tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bill.py").write_text(TOOL)
    monkeypatch.setenv("MISSTEP_CALLS_PER_TOOL", "30")
    monkeypatch.setenv("MISSTEP_TOKENS_PER_TOOL", "1")  # which every run then has a note about
    with ScriptedServer(plays(ANSWERS, agent)) as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
        given = ("--count", "1", "--variants", "4", "--requests", "2", "--sandbox", "none", "--json")
        printed = misstep("paper", "toolfuzz", "bill.py:split_bill", *model, *given)
    assert printed.code == 0, printed.err
    told = json.loads(printed.out)
    assert told["tools"] == 1
    assert {each["method"]: each["unique_errors"] for each in told["runtime"]} == {
        "whitebox": 1,
        "greybox": 0,
        "no-sanity": 1,
        "toolfuzz": 1,
    }
    assert {each["method"]: each["unique_errors"] for each in told["correctness"]} == {
        "whitebox": 0,
        "greybox": 0,
        "consistency": 1,
        "judge": 1,
        "toolfuzz": 1,
    }
    assert told["runtime"][0]["calls_per_error"] == 1
    for each in (*told["runtime"], *told["correctness"]):
        assert any(note.startswith("split_bill: ") and "above the limit of" in note for note in each["notes"])
    assert {each["fdr"] for each in told["correctness"]} == {None}
    runs = list(dict.fromkeys(each["run"] for kind in ("runtime", "correctness") for each in told[kind]))
    assert len(runs) == 7
    again(misstep, tmp_path, runs)


@pytest.mark.parametrize(
    ("limits", "faults", "code", "made"),
    [(("--budget-calls", "2"), [], 3, 2), ((), [*[None] * 3, Fault("401")], 2, 1)],
    ids=["no call is left to fuzz with", "the model is out when it is asked for a second message"],
)
def test_what_was_done_can_be_used(
    tmp_path: Path, misstep: Command, limits: Sequence[str], faults: list[Fault | None], code: int, made: int
) -> None:
    (tmp_path / "bill.py").write_text(TOOL)
    with ScriptedServer(plays(ANSWERS, agent, faults=faults)) as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
        given = ("--count", "1", "--sandbox", "none", "--display", "none", *limits)
        printed = misstep("paper", "toolfuzz", "bill.py:split_bill", *model, *given)
    assert printed.code == code, printed.err
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        done = [run.id for run in reversed(store.list_runs()) if run.summary]
    assert len(done) == made
    uses = "".join(f" --use {run}" for run in done)
    assert f"then, with the rest: misstep paper toolfuzz SPEC …{uses} --use RUN" in printed.err


def again(misstep: Command, folder: Path, runs: list[str]) -> None:
    """The same table out of stored runs, once people have said what they think of them."""
    failed = json.loads(misstep("show", runs[-1], "--json").out)["tools"][0]["sets"][0]["id"]
    with Store(str(folder / ".misstep" / "store.db")) as store:
        store.keep_label(runs[-1], Label(failed, "ann", False, 0.0))
        store.keep_label(runs[-1], Label(failed, "bob", True, 0.0))
        store.keep_label(runs[-1], Label(failed, "cem", False, 0.0))
    uses = [word for run in reversed(runs) for word in ("--use", run)]
    shown = misstep("paper", "toolfuzz", *uses)
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["toolfuzz,", "judge", "only", runs[-1], "1", "1.00"] == lines_of(lines, runs[-1])[1][:6]
    assert ["whitebox", "paper:", "LangChain", "35", "496", "[35,", "42]"] in lines
    assert "1 tool of" in shown.out
    assert "FDR of consistency only is a rough estimate: labels are sampled from what the judge" in shown.out
    some = misstep("paper", "toolfuzz", "--use", runs[0])
    assert "wrong answers" not in some.out
    twice = misstep("paper", "toolfuzz", "--use", runs[0], "--use", runs[0], "--use", runs[4])
    assert twice.code == 0


def lines_of(lines: list[list[str]], run: str) -> list[list[str]]:
    return [line for line in lines if run in line]


def test_what_the_paper_says_is_all_there() -> None:
    paper = load_paper()
    assert {*paper.runtime, *paper.correctness} == {*NAMES}
    for each in (*paper.runtime.values(), *paper.correctness.values()):
        assert all(low <= high for low, high in each.total)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no tools were given"),
        (["bill.py:split_bill"], "no agent given"),
        (["bill.py:split_bill", "--agent", "tools"], "no model given"),
        (["--use", "last"], "is not a finished test of tools through an agent"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, misstep: Command, arguments: list[str], told: str) -> None:
    (tmp_path / "bill.py").write_text(TOOL)
    if "last" in arguments:
        misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--display", "none")
    printed = misstep("paper", "toolfuzz", *arguments)
    assert printed.code == 2
    assert told in printed.err
