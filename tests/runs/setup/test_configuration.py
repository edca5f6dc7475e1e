"""Settings: layers, checks, and the three places that each can come from."""

from pathlib import Path
from typing import Any

import pytest

from misstep.core.settings import Settings, Span
from misstep.core.settings.reading import FIELDS, decode_settings, encode_settings, parse_setting
from misstep.errors import UsageError
from misstep.runs.setup.configuration import join, load_settings


def test_later_layers_win() -> None:
    settings = Settings().overlay({"jobs": 2, "seed": 5}).overlay({"jobs": 3})
    assert (settings.jobs, settings.seed, settings.group) == (3, 5, Settings().group)


def test_settings_survive_the_store() -> None:
    settings = Settings(agent="sim:x", actions=Span(2, 9), agent_args={"k": "ü"}, topics=("a", "b"), count=7)
    assert decode_settings(encode_settings(settings)) == settings


@pytest.mark.parametrize(
    ("given", "low", "high"), [("3-5", 3, 5), ("4", 4, 4), (4, 4, 4), (" 2 - 7 ", 2, 7), ("12-3", 12, 3)]
)
def test_spans(given: Any, low: int, high: int) -> None:
    assert Span.parse(given) == Span(low, high)
    assert Span.parse(str(Span(low, high))) == Span(low, high)


@pytest.mark.parametrize("given", ["", "-", "3-", "-3", "a-b", "3-5-7", "3.5", None, True, [3, 5], "９" * 30])
def test_what_is_no_span(given: Any) -> None:
    with pytest.raises(UsageError, match="a number or a range such as 3-5"):
        parse_setting("actions", given, "x")


FILE = """
# ours
agent = "sim:greedy"
jobs = 3
actions = "4-6"
agent_args = { phrase = "before" }
topics = ["baker"]
exhaustive = true
timeout = 5
"""


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text(FILE)
    settings = load_settings(tmp_path, {})
    assert (settings.agent, settings.jobs, settings.actions) == ("sim:greedy", 3, Span(4, 6))
    assert (settings.agent_args, settings.topics) == ({"phrase": "before"}, ("baker",))
    assert (settings.exhaustive, settings.timeout) == (True, 5.0)


def test_pyproject_and_which_file_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\njobs = 9\n[tool.misstep]\njobs = 4\n")
    assert load_settings(tmp_path, {}).jobs == 4
    (tmp_path / "misstep.toml").write_text("seed = 1\n")
    assert (load_settings(tmp_path, {}).jobs, load_settings(tmp_path, {}).seed) == (8, 1)


def test_a_pyproject_without_us_is_none_of_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\njobs = 'many'\n")
    assert load_settings(tmp_path, {}) == Settings()


def test_the_environment_wins_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text("jobs = 3\nseed = 2\n")
    environment = {
        "MISSTEP_JOBS": "5",
        "MISSTEP_EXHAUSTIVE": "true",
        "MISSTEP_TOPICS": "baker, florist",
        "MISSTEP_AGENT_ARGS": "a=1,b=x=y",
        "MISSTEP_ACTIONS": "2-3",
        "PATH": "/bin",
    }
    settings = load_settings(tmp_path, environment)
    assert (settings.jobs, settings.seed, settings.exhaustive) == (5, 2, True)
    assert (settings.topics, settings.agent_args) == (("baker", "florist"), {"a": "1", "b": "x=y"})
    assert settings.actions == Span(2, 3)


@pytest.mark.parametrize("name", FIELDS)
def test_every_setting_can_come_from_the_environment(tmp_path: Path, name: str) -> None:
    written = {
        "actions": "2-4",
        "agent_args": "k=v",
        "model_roles": "judge=local",
        "display": "none",
        "family": "time, data",
        "parallel": "forbid",
        "fail_on": "none",
        "baseline": "k3x9aa",
        "step_summary": "false",
        "on": "ray",
        "report": "ndjson",
        "method": "pdoctor",
        "part": "topics, words",
        "confidence": "0.9",
        "checks": "judge",
        "memory": "2048",
        "tool_method": "greybox",
        "variants": "7",
        "sandbox": "none",
        "split": "fresh",
        "strategy": "source, explore",
        "bench": "files",
    }
    text = written.get(name, "1" if FIELDS[name] and name not in ("agent", "store") else "x")
    settings = load_settings(tmp_path, {f"MISSTEP_{name.upper()}": text})
    assert getattr(settings, name) != getattr(Settings(), name)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\njbos = 3\n", "misstep.toml:2  unknown setting 'jbos'\n  Did you mean 'jobs'?"),
        (
            "jobs = 'many'\n",
            "misstep.toml:1  invalid value 'many' for jobs\n  expected a whole number from 1 to 10,000",
        ),
        (
            "jobs = '3'\n",
            "misstep.toml:1  invalid value '3' for jobs\n  expected a whole number from 1 to 10,000",
        ),
        (
            "seed = 1\nrelative = 2\n",
            "misstep.toml:2  invalid value 2 for relative\n  expected a number from 0 to 1",
        ),
        ("topics = 7\n", "misstep.toml:1  invalid value 7 for topics\n  expected a list of strings"),
        (
            "exhaustive = 'yes'\n",
            "misstep.toml:1  invalid value 'yes' for exhaustive\n  expected true or false",
        ),
        ("agent = [1]\n", "misstep.toml:1  invalid value [1] for agent\n  expected a text"),
        ("agent_args = 3\n", "misstep.toml:1  invalid value 3 for agent_args\n  expected a table of strings"),
    ],
)
def test_mistakes_in_a_file_have_a_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "misstep.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        load_settings(tmp_path, {})
    assert str(error.value) == complaint


@pytest.mark.parametrize("content", [b"jobs = \n", b"\xff\xfe"])
def test_a_file_that_is_not_toml(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "misstep.toml").write_bytes(content)
    with pytest.raises(UsageError) as error:
        load_settings(tmp_path, {})
    assert error.value.where == "misstep.toml"


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("MISSTEP_JOBS", "0", "MISSTEP_JOBS  invalid value '0'\n  expected a whole number from 1 to 10,000"),
        (
            "MISSTEP_JBOS",
            "3",
            "MISSTEP_JBOS  is not a misstep variable\n  Did you mean 'MISSTEP_JOBS'?",
        ),
        ("MISSTEP_AGENT_ARGS", "x", "MISSTEP_AGENT_ARGS  'x' is not a parameter\n  expected key=value"),
    ],
)
def test_mistakes_in_the_environment(tmp_path: Path, variable: str, text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as error:
        load_settings(tmp_path, {variable: text})
    assert str(error.value) == complaint


def test_a_list_may_be_written_as_a_text(tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text("topics = 'baker, florist'\nreport = 'ndjson'\n")
    settings = load_settings(tmp_path, {})
    assert (settings.topics, settings.report) == (("baker", "florist"), ("ndjson",))


@pytest.mark.parametrize("text", ['store = ["{}"]', "store = 7 # {}", 'jobs = "{}"'])
def test_a_password_is_not_repeated_in_a_complaint(tmp_path: Path, text: str) -> None:
    (tmp_path / "misstep.toml").write_text(text.format("postgresql://me:hunter2pass@host/db") + "\n")
    with pytest.raises(UsageError) as error:
        load_settings(tmp_path, {})
    assert "hunter2pass" not in str(error.value)


SHARED = Settings(
    agent="mine.py:agent",
    agent_args={"mode": "chat"},
    prompt="p.txt",
    record_proxy=True,
    python="py",
    count=7,
)


def test_an_agent_of_a_file_is_used_with_all_that_describes_it() -> None:
    assert join(SHARED, {"count": 8}) == SHARED.overlay({"count": 8})
    assert join(SHARED, {"agent": "mine.py:agent"}) == SHARED
    assert join(SHARED, {}, "real") == SHARED


def test_what_describes_the_agent_of_a_file_does_not_describe_another() -> None:
    found = join(SHARED, {"agent": "tools", "prompt": "own.txt"})
    assert found == Settings(agent="tools", prompt="own.txt", python="py", count=7)
    without_agent = SHARED.overlay({"agent": ""})
    assert join(without_agent, {"agent": "tools"}) == SHARED.overlay({"agent": "tools"})


def test_a_simulated_agent_of_a_file_is_not_for_real_tools() -> None:
    shared = SHARED.overlay({"agent": "sim:greedy"})
    assert join(shared, {}, "real") == Settings(python="py", count=7)
    assert join(shared, {"agent": "sim:right"}, "real").agent == "sim:right"
    assert join(shared, {}).agent == "sim:greedy"


def test_a_command_without_an_agent_ignores_all_that_needs_one() -> None:
    shared = SHARED.overlay({"tool_method": "greybox", "skip_sanity": True})
    assert join(shared, {}, "none") == Settings(python="py", count=7)
    found = join(shared, {"agent": "mine.py:agent"}, "none")
    assert (found.agent, found.agent_args, found.tool_method) == (
        "mine.py:agent",
        {"mode": "chat"},
        "greybox",
    )
    assert join(shared, {"skip_sanity": True}, "none").skip_sanity  # and is refused, as it was given
