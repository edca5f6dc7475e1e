"""Training examples from stored runs: the conversation is the one that our own agent has."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import misstep
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.settings import Settings
from misstep.errors import NoStoreYet, UsageError
from misstep.runs.reporting.training import Export
from tests.scripted import Script, ScriptedServer


def run(tmp_path: Path, agent: str, **more: Any) -> Settings:
    settings = Settings(agent=agent, count=more.pop("count", 12), store=str(tmp_path / "store.db"), **more)
    misstep.run_agent(settings)
    return settings


def lines(export: Export) -> list[Any]:
    return [json.loads(msgspec.json.encode(example)) for example in export.examples()]


def without_ids(messages: list[dict[str, Any]]) -> list[Any]:
    """A conversation in which ids are numbered, since every server makes its own."""
    numbers: dict[str, int] = {}
    told = json.loads(json.dumps(messages))
    for message in told:
        for call in message.get("tool_calls", ()):
            call["id"] = numbers.setdefault(call["id"], len(numbers))
        if message["role"] == "tool":
            message["tool_call_id"] = numbers[message["tool_call_id"]]
    return told  # type: ignore[no-any-return]


@pytest.mark.parametrize("own_prompt", [False, True])
def test_a_demonstration_is_the_conversation_of_the_tools_agent(tmp_path: Path, own_prompt: bool) -> None:
    more: dict[str, Any] = {}
    if own_prompt:
        (tmp_path / "own.txt").write_text("Be quick about it.")
        more["prompt"] = str(tmp_path / "own.txt")
    with ScriptedServer() as server:
        settings = run(
            tmp_path,
            "tools",
            model="x",
            model_base_url=server.base_url,
            jobs=1,
            actions=misstep.Span(2, 2),
            **more,
        )
        requests = [request.body for request in server.model_requests]
    longest: dict[str, Any] = {}
    for body in requests:
        request = body["messages"][1]["content"]
        if len(body["messages"]) >= len(longest.get(request, {"messages": ()})["messages"]):
            longest[request] = body
    examples = lines(Export(settings, "last", "sft", passed_too=True))
    passed = [example for example in examples if example["misstep"]["kind"] is None]
    assert len(examples) == 12
    assert 0 < len(passed) < 12
    for example in passed:
        said = longest[example["messages"][1]["content"]]
        assert without_ids(example["messages"][:-1]) == without_ids(said["messages"])
        assert example["tools"] == said["tools"]
        assert example["messages"][0]["content"].startswith("Be quick" if own_prompt else "You carry out")


def test_failures_only_unless_asked_for_more(tmp_path: Path) -> None:
    settings = run(tmp_path, "sim:greedy", count=30)
    some, every = Export(settings, "last", "sft"), Export(settings, "last", "sft", passed_too=True)
    failed, both = lines(some), lines(every)
    assert failed == both[: len(failed)]
    assert len(both) == 30
    assert some.summary().kinds == {"order": len(failed)}
    assert every.summary().kinds == {"order": len(failed), "passed": 30 - len(failed)}


def test_preferences(tmp_path: Path) -> None:
    settings = run(tmp_path, "sim:random", family=("order", "repeat"))
    export = Export(settings, "last", "dpo")
    examples = lines(export)
    assert len(examples) == export.summary().examples > 5
    for example in examples:
        assert example["chosen"] != example["rejected"]
        assert [message["role"] for message in example["prompt"]] == ["system", "user"]


class Mixed:
    """Fails to start, is slow, gives up, or does everything in the order of the tools."""

    name = "mixed"

    def __init__(self) -> None:
        self.cases = 0

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.cases += 1
        match self.cases % 4:
            case 0:
                raise ConnectionError("no route")
            case 1:
                return Answer("too slow", "timeout")
            case 2:
                return Answer("done")
        for tool in toolbox.tools:
            toolbox.call(tool.name, {})
        return Answer("done")


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    settings = Settings(count=20, store=str(tmp_path / "store.db"), jobs=1)
    summary = misstep.run_agent(settings, agent=Mixed())
    assert (summary.errored, summary.errors["timeout"], summary.errors["lost"]) == (5, 5, 5)
    plain, pairs = Export(settings, "last", "sft"), Export(settings, "last", "dpo")
    assert len(lines(plain)) == summary.failed
    assert plain.summary().left_out == {"errored": 5}
    assert len(lines(pairs)) == summary.failed - 5
    assert pairs.summary().left_out == {"errored": 5, "faultless": 5}


def test_examples_are_made_one_at_a_time(tmp_path: Path) -> None:
    export = Export(run(tmp_path, "sim:random", count=20), "last", "sft")
    examples = export.examples()
    next(examples)
    assert export.summary().examples == 1


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoStoreYet):
        list(Export(Settings(store=str(tmp_path / "none.db")), "last", "sft").examples())
    settings = run(tmp_path, "sim:perfect", count=1)
    with pytest.raises(UsageError, match="no run 'nowhere'"):
        list(Export(settings, "nowhere", "sft").examples())


def test_instructions_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Be quick.")
    with ScriptedServer(Script(behaviour="idle")) as server:
        settings = run(
            tmp_path,
            "tools",
            model="x",
            model_base_url=server.base_url,
            prompt=str(tmp_path / "own.txt"),
            count=1,
        )
    (tmp_path / "own.txt").unlink()
    with pytest.raises(UsageError, match=r"own\.txt  can't be read"):
        list(Export(settings, "last", "sft").examples())
