"""Documentation that misleads a reader is mended, proved to be better, and written to where it stands."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.conftest import Command, misstep
from tests.fuzzing.agent_tests.scripted_roles import Answer, fenced_in
from tests.quality.planted_documents.domain import PURPOSES
from tests.quality.reader_model import ReaderModel
from tests.scripted import Call, ScriptedServer, calling

__all__ = ["misstep"]

SOURCE = '''
"""Orders — Bestellungen für Köln."""

STOCK = {"ß": 1}


def track_order(order: str) -> str:
    """Where an order of a customer is.

    Args:
        order: The number of the order.
    """
    number = order.split("-", 1)[1]
    return f"order {number} is on its way"
'''
RIGHT = "The number of the order with the prefix 'ORD-', such as 'ORD-4711'."
WRONG = "The number of the order with the prefix 'ORD', such as 'ORD4711'."
ORDERS = ("4711", "ORD-4711", "1234", "ORD-1234", "77", "78", "79", "80")
FUZZ = ("--calls-per-tool", "40", "--requests-per-crash", "8", "--json")
SHORT = ("--sandbox", "none", "--display", "none", "--max-steps", "5", "--retries", "0", "--jobs", "1")


def ask_for_orders(_: str) -> object:
    """Requests in which the crash shows, with others in which it does not."""
    return {"requests": [PURPOSES["track_order"].ask({"order": each}) for each in ORDERS]}


def propose(*said: object) -> Answer:
    """One answer after the other, by how much was proposed before."""

    def answer(prompt: str) -> object:
        used = fenced_in(prompt)[-1]
        place = len(json.loads(used)) if used != "(none)" else 0
        return said[min(place, len(said) - 1)]

    return answer


def words(description: str, **parameters: str) -> dict[str, object]:
    argued = {"misleads": ["nothing is said of the prefix"], "argument": "words can prevent it"}
    return {**argued, "description": description, "parameters": parameters}


HELPFUL = propose(
    words("Look up an order.", order=WRONG),
    words("Tell where an order is.", order=RIGHT),
    words("Tell a customer where an order of theirs is at the moment.", order=RIGHT),
)


def serving(answer: Answer) -> ReaderModel:
    return ReaderModel({"request": ask_for_orders, "fix-findings": answer})


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "orders.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def given(server: ScriptedServer, verb: str, *more: str) -> list[str]:
    model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
    return ["tool", verb, "orders.py:track_order", *model, *SHORT, *more]


def fuzzed(misstep: Command, server: ScriptedServer) -> None:
    found = json.loads(misstep(*given(server, "fuzz", *FUZZ)).out)
    assert [each["error"] for tool in found["tools"] for each in tool["findings"]] == ["IndexError"]


def test_the_right_words_are_found_and_written_and_the_tool_is_silent(tool: Path, misstep: Command) -> None:
    with serving(HELPFUL).server as server:
        fuzzed(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last", "--candidates", "3", "--write", "--json"))
        found = json.loads(printed.out)
        again = json.loads(misstep(*given(server, "fuzz", *FUZZ)).out)
    assert printed.code == 0
    assert f"were written to {tool}" in printed.err
    (one,) = found["tools"]
    rates = [each["validation"]["rate"] for each in one["candidates"]]
    assert (rates, one["chosen"], one["regressions"]) == ([0.25, 1.0, 1.0], 2, [])  # the shortest of equals
    assert (one["before"]["passed"], one["after"]["passed"], one["p"]) == (1, 4, pytest.approx(0.25))
    assert len(one["gained"]) == 3
    assert one["before"]["tokens"] < one["after"]["tokens"]
    expected = SOURCE.replace("Where an order of a customer is.", "Tell where an order is.")
    assert tool.read_text(encoding="utf-8") == expected.replace("The number of the order.", RIGHT)
    assert not any(each["request"] for tool in again["tools"] for each in tool["findings"])


PARTIAL = """

def ask(order: str) -> str:
    return track_order(order)


ask.__doc__ = track_order.__doc__
tools = [track_order, ask]
"""


@pytest.mark.full
def test_no_other_tool_gets_new_words(tool: Path, misstep: Command) -> None:
    tool.write_text(SOURCE + PARTIAL, encoding="utf-8")
    both = f"{tool}:tools"
    with serving(HELPFUL).server as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, *SHORT)
        only = ("--only", "track_order")
        misstep("tool", "fuzz", both, *only, *model, *FUZZ)
        more = ("--from", "last", "--candidates", "3", "--write", "--json")
        printed = misstep("tool", "fix", both, *only, *model, *more)
    assert printed.code == 2
    assert "the tool 'ask' would change as well, and it was not tested" in printed.err
    assert tool.read_text(encoding="utf-8") == SOURCE + PARTIAL


@pytest.mark.full
def test_a_run_is_shown_and_its_override_is_used(tool: Path, misstep: Command, tmp_path: Path) -> None:
    with serving(HELPFUL).server as server:
        fuzzed(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last", "--candidates", "2", "--out", "new.toml"))
        shown = misstep("show", "last").out
        misstep(*given(server, "fuzz", *FUZZ, "--descriptions", "new.toml"))
        silent = misstep("show", "last").out
    assert (printed.code, tool.read_text(encoding="utf-8")) == (0, SOURCE)
    assert "3 gained, 0 lost, p = 0.25 (exact McNemar)" in " ".join(printed.out.split())
    assert "+        order: The number of the order with the prefix 'ORD-'" in shown
    assert "[tools.track_order.parameters]" in shown
    assert f"descriptions: {tmp_path / 'new.toml'}" in " ".join(silent.split())
    assert "of 1 tried with the agent: 0 documented" in silent


LONG = " ".join(["order"] * 101)
SAME = words("Where an order of a customer is.", order="The number of the order.")


@pytest.mark.full(after=1)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (propose("no idea"), "There is no JSON object"),
        (propose(words(LONG)), "There are 101 words in total; the maximum is 100"),
        (propose(SAME), "That is what the tool says already"),
        (propose(words("x", day="y")), "The tool has no parameter 'day'"),
        (propose(words("x\n\nArgs:\n    order: y")), "Omit sections"),
        (propose(words("Where it is.")), "no candidate did better"),
        (
            propose(words("Never call this.", order="Of no use: takes nothing, at most 0 characters")),
            "no candidate",
        ),
    ],
    ids=["rubbish", "long", "same", "unknown", "sections", "useless", "forbidding"],
)
def test_what_does_not_help_is_not_written(tool: Path, misstep: Command, answer: Answer, said: str) -> None:
    with serving(answer).server as server:
        fuzzed(misstep, server)
        more = ("--from", "last", "--candidates", "1", "--write", "--out", "new.toml")
        printed = misstep(*given(server, "fix", *more))
    assert printed.code == 1
    assert said in " ".join(printed.out.split())
    assert "nothing was written" in printed.err
    assert tool.read_text(encoding="utf-8") == SOURCE
    assert not tool.with_name("new.toml").exists()


class Memorising(ReaderModel):
    """Takes what the description says about single orders at its word."""

    def _act(self, request: str, tools: list[str]) -> Sequence[Call]:
        told = self._documentation(request)["track_order"].description
        heard = PURPOSES["track_order"].hear(request)
        if heard and f"<{heard['order']}>" in told:
            return [calling("track_order", order=f"ORD-{heard['order']}")]
        return super()._act(request, tools)


def memorise(prompt: str) -> object:
    """Words that help with the examples that were shown, and with nothing else."""
    seen = re.findall(r"order (\d+) right now", fenced_in(prompt)[1])
    return words("Known orders: " + " ".join(f"<{each}>" for each in seen))


@pytest.mark.full
def test_what_helps_only_where_it_was_chosen_is_not_written(tool: Path, misstep: Command) -> None:
    model = Memorising({"request": ask_for_orders, "fix-findings": memorise})
    with model.server as server:
        fuzzed(misstep, server)
        printed = misstep(*given(server, "fix", "--from", "last", "--candidates", "1", "--write", "--json"))
    assert (printed.code, tool.read_text(encoding="utf-8")) == (1, SOURCE)
    (one,) = json.loads(printed.out)["tools"]
    # It is told of the one request that was tried, and of none of those that were not: 1 more than without it.
    assert (one["candidates"][0]["validation"]["rate"], one["chosen"]) == (0.5, 1)
    assert one["after"]["passed"] == one["before"]["passed"]
    assert "nothing was written" in printed.err


def explore(prompt: str) -> object:
    known = "ORD-1" if "IndexError" in fenced_in(prompt)[1] else "1"
    return {"reason": "to see what it takes", "arguments": {"order": known}}


def observe(prompt: str) -> object:
    text = RIGHT if "order 1 is on its way" in fenced_in(prompt)[1] else "The order."
    return {"description": "Where an order is.", "parameters": {"order": text}}


def read_source(prompt: str) -> object:
    text = RIGHT if 'order.split("-", 1)' in fenced_in(prompt)[0] else WRONG
    return {"description": "Where an order is.", "parameters": {"order": text}}


STAGES: dict[Stage, Answer] = {
    "request": ask_for_orders,
    "fix-findings": HELPFUL,
    "fix-description": read_source,
    "fix-source": read_source,
    "fix-explore": explore,
    "fix-observed": observe,
}


def test_every_strategy_has_its_share(tool: Path, misstep: Command) -> None:
    with ReaderModel(STAGES).server as server:
        fuzzed(misstep, server)
        more = ("--strategy", "source,explore,description", "--candidates", "3", "--from", "last", "--json")
        printed = misstep(*given(server, "fix", *more))
    (one,) = json.loads(printed.out)["tools"]
    source, explored, described = one["candidates"]
    assert [each["strategy"] for each in one["candidates"]] == ["source", "explore", "description"]
    assert source["validation"]["rate"] == 1.0
    assert described["validation"]["rate"] == 0.25  # without the source nobody knows
    assert explored["description"] is None  # it came to what had been proposed already
    assert "was proposed before" in explored["why"]
    assert ["IndexError" in each for each in explored["tried"]] == [True, False, False]


@pytest.mark.full
def test_a_run_that_was_stopped_goes_on_to_the_same_end(tool: Path, misstep: Command) -> None:
    with serving(HELPFUL).server as server:
        fuzzed(misstep, server)
        more = ("--from", "last", "--candidates", "2", "--budget-calls", "7")
        stopped = misstep(*given(server, "fix", *more))
        assert (stopped.code, "stopped early" in stopped.out) == (3, True)
        assert "Resume: misstep tool fix --resume" in misstep("show", "last").out
        before = len(server.model_requests)
        printed = misstep(
            "tool",
            "fix",
            "--resume",
            "last",
            "--budget-calls",
            "99",
            "--write",
            "--json",
            "--display",
            "none",
        )
    assert printed.code == 0
    (one,) = json.loads(printed.out)["tools"]
    assert (one["chosen"], one["after"]["passed"]) == (2, 4)
    assert RIGHT in tool.read_text(encoding="utf-8")
    assert len(server.model_requests) - before == 2 * (3 * 4 + 2 * 4 - 7)  # nothing was asked for twice
