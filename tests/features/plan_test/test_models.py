"""Models on the command line: what is said when something is missing, and what it costs."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.scripted import Fault, Script, ScriptedServer
from tests.snapshots import check_snapshot


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no-model", ["--agent", "tools"]),
        ("no-key", ["--agent", "tools", "--model", "openai/gpt-4o"]),
        ("provider", ["--agent", "tools", "--model", "opnai/gpt-4o"]),
        ("base-url", ["--agent", "tools", "--model", "x", "--model-base-url", "localhost:8000"]),
        ("secret-url", ["--agent", "tools", "--model", "x", "--model-base-url", "http://me:pw@127.0.0.1/v1"]),
        (
            "unpriced",
            [
                "--agent",
                "tools",
                "--model",
                "vast/x",
                "--model-base-url",
                "http://127.0.0.1:9/v1",
                "--budget-usd",
                "1",
            ],
        ),
        ("react-mode", ["--agent", "react", "--model", "vllm/x", "-A", "mode=talk"]),
        ("tools-parameter", ["--agent", "tools", "--model", "vllm/x", "-A", "paralel=no"]),
        ("no-agent-file", ["--agent", "nowhere.py:agent"]),
        ("secret-parameter", ["--agent", "tools", "--model", "vllm/x", "-A", "api_key=x"]),
    ],
)
def test_errors(misstep: Command, name: str, arguments: list[str]) -> None:
    result = misstep("plan", "test", *arguments)
    assert (result.code, result.out) == (2, "")
    check_snapshot(f"error-model-{name}", result.err)


def test_a_run_with_tokens_and_cost(misstep: Command) -> None:
    with ScriptedServer() as server:
        arguments = ["--agent", "tools", "--model", "openai/gpt-4o", "--model-base-url", server.base_url]
        result = misstep(
            "plan",
            "test",
            *arguments,
            "--count",
            "4",
            "--jobs",
            "1",
            "--display",
            "none",
            "--fail-on",
            "none",
        )
    assert (result.code, result.err) == (0, "")
    check_snapshot("plan-test-model", result.out)


def test_the_budget_is_an_exit_code(misstep: Command) -> None:
    with ScriptedServer() as server:
        arguments = ["--agent", "tools", "--model", "openai/gpt-4o", "--model-base-url", server.base_url]
        limits = ["--budget-usd", "0.001", "--jobs", "1", "--display", "none"]
        result = misstep("plan", "test", *arguments, *limits)
    assert (result.code, result.out) == (3, "")
    assert "of 0.001 USD used" in result.err
    assert "--resume" in result.err


def test_a_server_in_trouble_makes_cases_errored(misstep: Command) -> None:
    with ScriptedServer(Script(faults=[Fault("500")] * 10)) as server:
        arguments = [
            "--agent",
            "tools",
            "--model",
            "x",
            "--model-base-url",
            server.base_url,
            "--retries",
            "0",
        ]
        result = misstep("plan", "test", *arguments, "--count", "3", "--json", "--display", "none")
    summary = json.loads(result.out)
    assert (summary["errored"], summary["failed"], summary["success"]) == (3, 0, None)


NOISY = """
import logging, os, sys, warnings
print("loading")
def agent(request, tools):
    print("hello from the agent")
    os.write(1, b"hello from below\\n")
    logging.getLogger("x").error("a log line")
    return "done"
"""


def test_what_an_agent_prints_stays_out_of_the_way(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    result = misstep(
        "plan", "test", "--agent", "noisy.py:agent", "--count", "2", "--json", "--display", "none"
    )
    assert json.loads(result.out)["cases"] == 2
    assert result.err.count("hello from the agent") == result.err.count("hello from below") == 2
    run = json.loads(result.out)["run"]
    case = json.loads(misstep("show", run, "--json").out)
    assert case["cases"] == 2
