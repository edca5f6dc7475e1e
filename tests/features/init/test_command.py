"""`misstep init` writes files that work."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from misstep.core.settings import Settings
from misstep.errors import install_command
from misstep.runs.setup.configuration import load_settings
from tests.conftest import Command, misstep

__all__ = ["misstep"]

ROOT = Path(__file__).parents[3]
FILES = ("misstep.toml", "test_misstep.py", ".github/workflows/misstep.yml")
LISTER = """
def agent(request, tools):
    for tool in tools:
        tool()
    return "done"

def lookup(name: str) -> str:
    \"\"\"Look up a price by name.\"\"\"
    return name.upper()
"""
PERFECT = """
from misstep.planning.simulated.planners import simulated_agent

class Planner:
    name = "planner"

    async def run(self, assignment, toolbox):
        return await simulated_agent("perfect", {}).run(assignment, toolbox)
"""
SERVER = """
from mcp.server import MCPServer

server = MCPServer("shop")

@server.tool()
def add(a: int, b: int) -> int:
    \"\"\"Add two numbers.\"\"\"
    return a + b

if __name__ == "__main__":
    server.run()
"""


def ran(folder: Path, command: str) -> "subprocess.CompletedProcess[str]":
    """A command as it was printed, with misstep and pytest of this environment."""
    words = shlex.split(command)
    words = [sys.executable, "-m", *words] if words[0] in ("misstep", "pytest") else words
    known = {name: value for name, value in os.environ.items() if not name.startswith("MISSTEP_")}
    plugin = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p misstep.pytest_plugin"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        words, cwd=folder, env={**known, **plugin, "PATH": path}, capture_output=True, text=True
    )


def next_commands(out: str) -> list[str]:
    return [line.strip() for line in out.partition("Next:\n")[2].splitlines() if line.strip()]


def workflow(folder: Path) -> dict[str, Any]:
    value = yaml.safe_load((folder / FILES[2]).read_text())
    assert set(value) == {"name", True, "permissions", "jobs"}  # `on` is a boolean in YAML
    job: dict[str, Any] = value["jobs"]["misstep"]
    return job


def test_a_plain_agent(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(LISTER)
    done = misstep("init")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Found:\n"
        "  agent   mine.py:2  agent (function)\n"
        "  tool    mine.py:7  lookup (function)\n\n"
        "Written:\n"
        "  misstep.toml                    settings\n"
        "  test_misstep.py                 a first test for pytest\n"
        "  .github/workflows/misstep.yml   runs the test on GitHub\n\n"
        "Next:\n"
        "  misstep plan test --count 20\n"
        "  pytest test_misstep.py\n\n"
    )
    suggested, tests = next_commands(done.out)
    tried = ran(tmp_path, f"{suggested} --fail-on none --display none")
    assert tried.returncode == 0, tried.stderr
    assert "mine.py:agent" in tried.stdout
    tested = ran(tmp_path, tests)
    assert tested.returncode == 1
    assert "1 failed, 1 passed" in tested.stdout  # this agent ignores the order, its tool is fine
    assert "--misstep-case" in tested.stdout


def test_an_agent_that_passes(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "planner.py").write_text(PERFECT)
    done = misstep("init")
    assert next_commands(done.out) == ["misstep plan test --count 20", "pytest tests/test_misstep.py"]
    tested = ran(tmp_path / "tests", "pytest test_misstep.py")  # from another folder than that of the project
    assert tested.returncode == 0, tested.stdout
    assert "1 passed" in tested.stdout


def test_a_server(tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (tmp_path / "my server.py").write_text(SERVER)
    done = misstep("init")
    assert "  server  my server.py:4  server (MCP server)\n" in done.out
    suggested, tests = next_commands(done.out)
    assert shlex.split(suggested) == [
        *("misstep", "tool", "fuzz", "mcp:python 'my server.py'", "--time-per-tool", "30s")
    ]
    fuzzed = ran(tmp_path, f"{suggested} --calls-per-tool 10 --display none")
    assert fuzzed.returncode == 0, fuzzed.stderr
    assert "no defects found" in fuzzed.stdout
    tested = ran(tmp_path, tests)
    assert tested.returncode == 0, tested.stdout
    assert "1 passed" in tested.stdout


def test_an_interpreter_that_is_not_called_python_is_named(
    tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "server.py").write_text(SERVER)
    suggested = next_commands(misstep("init").out)[0]
    assert shlex.split(suggested)[3] == f"mcp:{sys.executable} server.py"


def test_the_settings_are_valid_and_all_shown_ones_too(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(LISTER)
    misstep("init")
    assert load_settings(tmp_path, {}) == Settings(agent="mine.py:agent")
    text = (tmp_path / "misstep.toml").read_text()
    assert max(map(len, text.splitlines())) <= 110
    uncommented = re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)
    (tmp_path / "misstep.toml").write_text(uncommented)
    shown = tomllib.loads(uncommented)
    assert {"agent", "model", "count", "sandbox", "fail_on", "store"} <= shown.keys()
    loaded = load_settings(tmp_path, {})
    examples = ("agent", "model", "count", "budget_usd", "budget_time", "calls_per_tool", "time_per_tool")
    examples += ("fail_on", "report")
    defaults = {name: getattr(loaded, name) for name in shown if name not in examples}
    assert defaults == {name: getattr(Settings(), name) for name in defaults}


def test_the_workflow(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "crew.py").write_text("from crewai import Crew\ncrew = Crew()\n")
    (tmp_path / "requirements.txt").touch()
    misstep("init")
    job = workflow(tmp_path)
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    assert scripts[:2] == [
        "python -m pip install -r requirements.txt",
        "python -m pip install pytest 'misstep[crewai,fuzz,mcp]'",
    ]
    assert "apt-get install -y -qq bubblewrap" in scripts[2]
    assert scripts[3] == "python -m pytest test_misstep.py -rA --junitxml misstep.xml"
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert [each.partition("@")[0] for each in used] == [
        *("actions/checkout", "actions/setup-python", "actions/upload-artifact")
    ]
    ours = "".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    assert {*used} <= {*re.findall(r"uses: (\S+)", ours)}  # the same versions
    script = "\n".join(scripts)
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


@pytest.mark.parametrize(
    ("pyproject", "step"),
    [
        ('[build-system]\nrequires = ["hatchling"]', "python -m pip install -e ."),
        ("[project]", None),
        ("no [", None),
    ],
)
def test_the_workflow_installs_the_project(
    tmp_path: Path, misstep: Command, pyproject: str, step: str | None
) -> None:
    (tmp_path / "mine.py").write_text(PERFECT)
    (tmp_path / "pyproject.toml").write_text(pyproject)
    misstep("init")
    scripts = [step["run"] for step in workflow(tmp_path)["steps"] if "run" in step]
    assert scripts[:-1] == [*([step] if step else []), "python -m pip install pytest misstep"]


def test_a_project_in_a_part_of_a_repository(
    tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "parts" / "shop"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "mine.py").write_text(LISTER)
    monkeypatch.chdir(folder)
    assert "move it to the root of the repository" in misstep("init").out
    text = (folder / FILES[2]).read_text()
    assert yaml.safe_load(text)["defaults"] == {"run": {"working-directory": "parts/shop"}}
    assert yaml.safe_load(text)["jobs"]["misstep"]["steps"][-1]["with"]["path"] == "parts/shop/misstep.xml"


def test_existing_files_are_left_alone_unless_forced(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(LISTER)
    (tmp_path / "misstep.toml").write_text("count = 3\n")
    (tmp_path / "test_misstep.py").symlink_to("nowhere")
    done = misstep("init")
    assert "Left alone (--force replaces files):\n  misstep.toml  " in done.out
    assert next_commands(done.out) == ["misstep plan test --agent mine.py:agent --count 20"]
    assert (tmp_path / "misstep.toml").read_text() == "count = 3\n"
    assert (tmp_path / "test_misstep.py").is_symlink()
    assert (tmp_path / FILES[2]).exists()
    (tmp_path / "test_misstep.py").unlink()
    forced = misstep("init", "--force")
    assert "Left alone" not in forced.out
    assert tomllib.loads((tmp_path / "misstep.toml").read_text()) == {"agent": "mine.py:agent"}


def test_settings_in_pyproject_are_not_hidden_by_a_new_file(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(LISTER)
    (tmp_path / "pyproject.toml").write_text("[tool.misstep]\ncount = 3\n")
    assert "pyproject.toml has [tool.misstep]" in misstep("init", "--force").out
    assert not (tmp_path / "misstep.toml").exists()


def test_nothing_found(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    done = misstep("init")
    assert (done.code, done.err) == (0, "")
    assert "no agent, MCP server or tool in 1 Python file\n" in done.out
    assert "def agent(request, tools)" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["misstep.toml", "other.py"]
    assert '\n# agent = "sim:greedy"\n' in (tmp_path / "misstep.toml").read_text()
    assert load_settings(tmp_path, {}) == Settings()
    (suggested,) = next_commands(done.out)
    assert ran(tmp_path, f"{suggested} --fail-on none").returncode == 0


def test_an_agent_that_is_tied_to_its_tools(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(
        "from langchain.agents import create_agent\nhelper = create_agent('m')\n"
    )
    done = misstep("init")
    assert "agent   mine.py:2  helper (LangChain agent); is tied to its tools\n" in done.out
    assert "def make_agent(tools)" in done.out
    assert not (tmp_path / "test_misstep.py").exists()


@pytest.fixture
def several(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("def first(request, tools): ...\n")
    (tmp_path / "b.py").write_text("def second(request, tools): ...\n")
    (tmp_path / "kit.py").write_text("tools = []\n")
    (tmp_path / "more_tools.py").write_text(
        "def x(a: int) -> int:\n    'X.'\ndef y(a: int) -> int:\n    'Y.'\n"
    )
    return tmp_path


def test_of_several_the_first_is_taken_and_that_is_said(several: Path, misstep: Command) -> None:
    done = misstep("init")
    assert "Using the first agent, a.py:first: choose another with --agent.\n" in done.out
    assert "Testing the tools of kit.py: choose others with SPEC.\n" in done.out
    assert load_settings(several, {}).agent == "a.py:first"
    assert 'return f"{ROOT}/kit.py:tools"' in (several / "test_misstep.py").read_text()


def test_arguments_choose(several: Path, misstep: Command) -> None:
    done = misstep("init", "more_tools.py:x", "more_tools.py:y", "--agent", "b.py:second")
    assert "choose" not in done.out
    assert load_settings(several, {}).agent == "b.py:second"
    text = (several / "test_misstep.py").read_text()
    compile(text, "test_misstep.py", "exec")
    assert '        f"{ROOT}/more_tools.py:x",\n        f"{ROOT}/more_tools.py:y",\n' in text
    assert next_commands(done.out)[0] == "misstep plan test --count 20"


def test_somebody_at_a_terminal_is_asked(
    several: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def answer(text: str, **_: object) -> int:
        asked.append(text)
        return 2

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", answer)
    done = misstep("init")
    assert asked == ["Which agent?"]
    assert "  1  a.py:first\n  2  b.py:second\n" in done.out
    assert load_settings(several, {}).agent == "b.py:second"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agent", "a.py"), "'a.py' does not name an agent\n  in a.py: first (function, line 1)\n"),
        (("more_tools.py",), "'more_tools.py' does not name a tool\n"),
        (("--agent", "none.py:agent"), "none.py  no such file\n"),
        (("none.json",), "none.json  no such file\n"),
    ],
)
def test_what_is_not_there_is_refused(
    several: Path, misstep: Command, arguments: tuple[str, ...], said: str
) -> None:
    done = misstep("init", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)
    assert not (several / "misstep.toml").exists()


def test_a_file_that_cannot_be_written(several: Path, misstep: Command) -> None:
    (several / ".github").write_text("a file, not a folder")
    done = misstep("init")
    assert done.code == 2
    assert done.err.startswith(".github/workflows/misstep.yml  can't be written: ")
    assert "  written before: misstep.toml, test_misstep.py\n" in done.err


@pytest.mark.parametrize("name", ["größe.py", "with space.py", "quote's.py", "{brace}.py", 'double".py'])
def test_odd_file_names(tmp_path: Path, misstep: Command, name: str) -> None:
    (tmp_path / name).write_text("def agent(request, tools): ...\n")
    assert misstep("init").code == 0
    assert load_settings(tmp_path, {}).agent == f"{name}:agent"
    space: dict[str, Any] = {"__file__": str(tmp_path / "test_misstep.py")}
    exec((tmp_path / "test_misstep.py").read_text(), space)
    made: Callable[[], str] = space["test_agent"]
    assert made() == f"{tmp_path}/{name}:agent"


def test_missing_extras_are_told_first(
    tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert next_commands(misstep("init").out)[0] == install_command("fuzz,mcp")
