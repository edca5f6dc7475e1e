"""Traces reach a real OTLP endpoint, and no endpoint ever gets in a run's way."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import RunStarted, TaskJudged
from misstep.core.outcome import Usage
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.interop import otlp
from misstep.interop.otlp import check_endpoint
from misstep.runs.reporting.export import traced
from misstep.store.runs import Store
from tests.conftest import Command
from tests.conftest import misstep as misstep
from tests.interop.receiver import attributes, receiving
from tests.interop.runs import outcomes
from tests.scripted import ScriptedServer

STORE = Settings(store=".misstep/store.db")
QUIET = ("--fail-on", "none", "--display", "plain", "--jobs", "1")


def named(spans: list[Any], operation: str) -> list[Any]:
    return [span for span in spans if attributes(span)["gen_ai.operation.name"] == operation]


def test_a_simulated_agent(misstep: Command) -> None:
    with receiving() as receiver:
        result = misstep(
            "plan", "test", "--agent", "sim:greedy", "--count", "20", "--otlp", receiver.url, *QUIET
        )
    assert result.code == 0
    kept = {outcome.case.id: outcome for outcome in outcomes(STORE)}
    agents = named(receiver.spans, "invoke_agent")
    assert {path for path, _, _ in receiver.requests} == {"/v1/traces"}
    assert len(agents) == len(kept) == 20
    assert len(receiver.requests) < 20  # several go together
    for span in agents:
        said = attributes(span)
        outcome = kept[said["misstep.case"]]
        assert span.name == "invoke_agent sim:greedy"
        assert said["gen_ai.provider.name"] == "misstep"
        assert (said["misstep.verdict"], said["misstep.chance"]) == (
            outcome.verdict.verdict,
            outcome.case.chance,
        )
        assert (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9 == pytest.approx(outcome.seconds)
        (event,) = span.events
        assert event.name == "gen_ai.evaluation.result"
        assert attributes(event)["gen_ai.evaluation.score.label"] == outcome.verdict.verdict
        tools = [each for each in named(receiver.spans, "execute_tool") if each.trace_id == span.trace_id]
        assert {each.parent_span_id for each in tools} == {span.span_id}
        assert [each.name for each in sorted(tools, key=lambda each: each.start_time_unix_nano)] == [
            f"execute_tool {call.tool}" for call in outcome.transcript.calls
        ]
    assert not named(receiver.spans, "chat")  # there is no model
    assert receiver.resources[0]["service.name"] == "misstep"


def test_the_tools_agent_and_its_model(misstep: Command) -> None:
    with receiving() as receiver, ScriptedServer() as server:
        model = ("--model", "mistral/large", "--model-base-url", server.base_url)
        result = misstep(
            "plan", "test", "--agent", "tools", *model, "--count", "4", "--otlp", f"{receiver.url}/", *QUIET
        )
    assert result.code == 0, result.err
    kept = {outcome.case.id: outcome for outcome in outcomes(STORE)}
    for span in named(receiver.spans, "invoke_agent"):
        said, usage = attributes(span), kept[attributes(span)["misstep.case"]].transcript.usage
        assert (said["gen_ai.provider.name"], said["gen_ai.request.model"]) == ("mistral_ai", "large")
        assert said["gen_ai.usage.input_tokens"] == usage.input > 0
        chats = [each for each in named(receiver.spans, "chat") if each.trace_id == span.trace_id]
        tools = [each for each in named(receiver.spans, "execute_tool") if each.trace_id == span.trace_id]
        assert len(chats) == len(tools) + 1  # one for each call, and the answer
        assert {(each.name, each.kind) for each in chats} == {("chat large", 3)}
        assert sum(attributes(each)["gen_ai.usage.output_tokens"] for each in chats) == usage.output
        moments = sorted([*chats, *tools], key=lambda each: (each.end_time_unix_nano, each.name))
        assert [each.name.split()[0] for each in moments] == [*["chat", "execute_tool"] * len(tools), "chat"]
        for each in (*chats, *tools):
            assert span.start_time_unix_nano <= each.start_time_unix_nano <= each.end_time_unix_nano
            assert each.end_time_unix_nano <= span.end_time_unix_nano


def test_what_was_said_is_sent_only_if_asked_for(misstep: Command) -> None:
    arguments = ("plan", "test", "--agent", "sim:perfect", "--timed", "--count", "3", *QUIET, "--otlp")
    with receiving() as receiver:
        misstep(*arguments, receiver.url)
        kept = outcomes(STORE)
    bare = b"".join(body for _, _, body in receiver.requests)
    with receiving() as receiver:
        misstep(*arguments, receiver.url, "--otlp-content")
    for outcome in kept:
        words = [outcome.case.query, *[call.result for call in outcome.transcript.calls]]
        assert not any(word.encode() in bare for word in words)
        assert b"start_time" not in bare
    sent = {attributes(span)["misstep.case"]: span for span in named(receiver.spans, "invoke_agent")}
    for outcome in kept:
        said = attributes(sent[outcome.case.id])
        (message,) = json.loads(said["gen_ai.input.messages"])
        assert message == {"role": "user", "parts": [{"type": "text", "content": outcome.case.query}]}
        calls = [
            json.loads(attributes(span)["gen_ai.tool.call.arguments"])
            for span in named(receiver.spans, "execute_tool")
            if span.trace_id == sent[outcome.case.id].trace_id
        ]
        assert calls == [call.arguments for call in outcome.transcript.calls]


def test_headers_and_resources_come_from_the_environment(
    misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20abc")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=ours")
    with receiving() as receiver:
        misstep("plan", "test", "--agent", "sim:perfect", "--count", "1", "--otlp", receiver.url, *QUIET)
    assert receiver.requests[0][1]["authorization"] == "Bearer abc"
    assert receiver.resources[0]["team"] == "ours"


@pytest.mark.full(after=1)
@pytest.mark.parametrize("status", [400, 401, 404])
def test_an_endpoint_that_refuses_is_told_of_once(misstep: Command, status: int) -> None:
    with receiving(status) as receiver:
        result = misstep(
            "plan", "test", "--agent", "sim:perfect", "--count", "200", "--otlp", receiver.url, *QUIET
        )
    assert result.code == 0
    assert result.err.count("traces can't be sent") == 1
    assert f"code: {status}" in result.err
    assert len(outcomes(STORE)) == 200


@pytest.mark.full
@pytest.mark.parametrize("display", ["plain", "none"])
def test_an_endpoint_that_is_not_there(misstep: Command, display: str) -> None:
    """That is said even where nothing is said about progress."""
    sent = ("--otlp", "http://127.0.0.1:9", "--display", display)
    result = misstep("plan", "test", "--agent", "sim:perfect", "--count", "3", *sent)
    assert result.code == 0
    assert (
        "traces can't be sent to http://127.0.0.1:9/v1/traces: [Errno 111] Connection refused" in result.err
    )
    assert not [thread for thread in threading.enumerate() if thread.name == "otlp"]


def test_more_than_can_wait_is_left_out(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "WAITING", 1)
    monkeypatch.setattr(otlp, "TOGETHER", 1)
    with receiving(401) as receiver:
        result = misstep(
            "plan", "test", "--agent", "sim:perfect", "--count", "50", "--otlp", receiver.url, *QUIET
        )
    assert (result.code, len(outcomes(STORE))) == (0, 50)
    assert result.err.count("traces can't be sent") == 1


def test_keys_are_masked(misstep: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    (tmp_path / "leaky.py").write_text(
        "import os\n"
        "def agent(request, tools):\n"
        "    for tool in tools:\n"
        "        tool(key=os.environ['SOME_API_KEY'])\n"
        "    return os.environ['SOME_API_KEY']\n"
    )
    with receiving() as receiver:
        misstep(
            *("plan", "test", "--agent", "leaky.py:agent", "--count", "2", "--otlp-content"),
            *("--otlp", receiver.url, *QUIET),
        )
    sent = b"".join(body for _, _, body in receiver.requests)
    assert b"[secret]" in sent
    assert b"very-secret-value" not in sent


def test_a_run_that_goes_on_has_the_same_traces(misstep: Command) -> None:
    with receiving() as receiver:
        misstep(
            *("plan", "test", "--agent", "sim:perfect", "--count", "10", "--budget-calls", "25"),
            *("--otlp", receiver.url, *QUIET),
        )
        run = outcomes(STORE)
        misstep(
            *("plan", "test", "--resume", "last", "--budget-calls", "900", "--otlp", receiver.url),
            *QUIET[:4],
        )
    assert len(run) < len(outcomes(STORE)) == 10
    agents = named(receiver.spans, "invoke_agent")
    assert len(agents) == len({span.trace_id for span in agents}) == 10
    assert {span.name for span in agents} == {"invoke_agent sim:perfect"}


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://h/api/otel/", "http://h/api/otel/v1/traces"),
        ("https://h/v1/traces", "https://h/v1/traces"),
    ],
)
def test_addresses(url: str, endpoint: str) -> None:
    assert check_endpoint(url) == endpoint


@pytest.mark.parametrize("url", ["localhost:4318", "ftp://h", "http://", "http://h:0", "http://h:x", "x"])
def test_what_is_no_address(misstep: Command, url: str) -> None:
    result = misstep("plan", "test", "--agent", "sim:perfect", "--otlp", url)
    assert result.code == 2
    assert "--otlp" in result.err
    assert "http://127.0.0.1:4318" in result.err


@pytest.mark.parametrize("url", ["http://me:password1@h", "http://h/?key=x"])
def test_addresses_with_secrets(misstep: Command, url: str) -> None:
    result = misstep("plan", "test", "--agent", "sim:perfect", "--otlp", url)
    assert result.code == 2
    assert "OTEL_EXPORTER_OTLP_HEADERS" in result.err
    assert "password1" not in result.err


def test_tasks_of_a_benchmark(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store.db"), agent="tools", model="openai/gpt-4o")
    used = Use("move", '{"to": "a"}', "moved", Judged("fine"))
    task = TaskReport(
        *("fi1", "move", "Move it.", "test", "failed", "art", ("it is still there",)),
        trial=Trial("Move it.", (used, used), answer="Moved."),
        usage={"agent": Usage(7, 3)},
        seconds=2.0,
    )
    with Store(settings.store, create=True) as store:
        name = store.add_run(settings, 1, 0.0, purpose=RunSpec("files", tools=("plain",))).id
    told = list[str]()
    with (
        receiving() as receiver,
        traced(settings.overlay({"otlp": receiver.url}), told.append) as (tracer,),
    ):
        tracer(RunStarted(name, 1, {}, unit="task"))
        tracer(TaskJudged(name, task))
    (agent,) = named(receiver.spans, "invoke_agent")
    said = attributes(agent)
    assert (said["misstep.case"], said["misstep.verdict"], said["misstep.kind"]) == ("fi1", "failed", "move")
    assert said["gen_ai.usage.input_tokens"] == 7
    assert [span.name for span in named(receiver.spans, "execute_tool")] == ["execute_tool move"] * 2
    assert not told
