"""The files that `misstep init` writes: settings, a pytest file and a workflow for GitHub."""

import json
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from misstep.core.settings import Settings
from misstep.core.settings.reading import help_text
from misstep.errors import install_command

SETTINGS_FILE = "misstep.toml"
WORKFLOW_FILE = ".github/workflows/misstep.yml"
CASES = 20
MIN_SUCCESS = 0.8
CALLS = 200
# The settings that are shown, in sections; the values are examples where there is no default.
SHOWN: Mapping[str, Mapping[str, Any]] = {
    "The agent and its model": {"agent": "sim:greedy", "model": "openai/gpt-4o", "temperature": None},
    "The planning problems": {"count": 100, "seed": None, "actions": None, "family": None},
    "Limits": {"requests": None, "max_steps": None, "budget_usd": 5.0, "budget_time": "30m"},
    "Tests of tools": {"sandbox": None, "allow_network": None, "calls_per_tool": 1000, "time_per_tool": "5m"},
    "Results": {"fail_on": "threshold:0.8", "report": ["html", "junit"], "store": None},
}


def settings_text(agent: str) -> str:
    """A settings file with this agent; all other settings, and an empty agent, are comments."""
    lines = [
        "# Settings of misstep for this folder. Environment variables (MISSTEP_COUNT=50) and options",
        "# (--count 50) override them. Remove the # in front of a setting to change its default.",
    ]
    for title, names in SHOWN.items():
        lines += ["", f"# --- {title} ---"]
        for name, example in names.items():
            value = agent if name == "agent" and agent else example
            mark = "" if name == "agent" and agent else "# "
            lines += ["", f"# {help_text(name)}", f"{mark}{name} = {_toml(name, value)}"]
    return "\n".join(lines) + "\n"


def _toml(name: str, value: Any) -> str:
    """A value in TOML, whose texts, numbers, booleans and lists of these are those of JSON."""
    if value is None:
        value = getattr(Settings(), name)
    if not isinstance(value, str | int | float | list | tuple):
        value = str(value)
    return json.dumps(value, ensure_ascii=False)


def pytest_text(path: str, agent: str, tools: Sequence[str]) -> str:
    """A file of tests for pytest; `path` is its own place in the project."""
    returned = [_expression(spec) for spec in ((agent,) if agent else ()) + tuple(tools)]
    up = len(PurePosixPath(path).parents) - 1
    root = "Path(__file__).parent" if up == 0 else f"Path(__file__).parents[{up}]"
    uses = [name for name in ("shlex", "sys", "ROOT") if any(name in each for each in returned)]
    imports = [f"import {name}" for name in uses if name != "ROOT"]
    imports += ["from pathlib import Path"] if "ROOT" in uses else []
    blocks = [
        [f'"""Tests of the agent and its tools with misstep: pytest {path}"""'],
        *([imports] if imports else []),
        ["import pytest"],
        *([[f"ROOT = {root}  # the folder of the project"]] if "ROOT" in uses else []),
    ]
    lines = [line for block in blocks for line in (*block, "")]
    if agent:
        lines += [
            "",
            f"@pytest.mark.misstep(count={CASES}, min_success={MIN_SUCCESS})",
            "def test_agent():",
            f'    """The agent solves at least {MIN_SUCCESS:.0%} of {CASES} planning problems."""',
            f"    return {returned.pop(0)}",
            "",
        ]
    if tools:
        each_on_a_line = "".join(f"        {each},\n" for each in returned)
        lines += [
            "",
            f"@pytest.mark.misstep_tool(calls={CALLS})",
            "def test_tools():",
            f'    """No tool crashes or hangs in {CALLS} calls."""',
            f"    return {returned[0] if len(returned) == 1 else f'[{chr(10)}{each_on_a_line}    ]'}",
            "",
        ]
    return "\n".join(lines)


def _expression(spec: str) -> str:
    """A spec as a Python expression that does not depend on the folder in which pytest is started."""
    if spec.startswith("mcp:python "):
        path = shlex.split(spec)[1]
        return f'"mcp:" + shlex.join([sys.executable, f"{{ROOT}}/{_inside(path)}"])'
    file = spec if spec.endswith(".json") else spec.rpartition(":")[0]
    if file.endswith((".py", ".json")) and ":" not in file and not file.startswith("/"):
        return f'f"{{ROOT}}/{_inside(spec)}"'
    return json.dumps(spec, ensure_ascii=False)


def _inside(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("{", "{{").replace("}", "}}")


def workflow_text(tests: str, folder: Path, below: str, extras: Iterable[str], sandbox: bool) -> str:
    """A workflow that runs the tests; `below` is where the project is in its repository."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    report = f"{below}/misstep.xml" if below else "misstep.xml"
    lines = [
        f"# Runs {tests} on GitHub.",
        "name: misstep",
        "on:",
        "  push:",
        "    branches: [main]",
        "  pull_request:",
        "permissions:",
        "  contents: read",
        *(["defaults:", "  run:", f"    working-directory: {json.dumps(below)}"] if below else []),
        "jobs:",
        "  misstep:",
        "    runs-on: ubuntu-latest",
        "    steps:",
        "      - uses: actions/checkout@v7",
        "      - uses: actions/setup-python@v7",
        "        with:",
        f'          python-version: "{version}"',
        *_installation(folder, ",".join(sorted({*extras} - {""}))),
        *(_SANDBOX if sandbox else []),
        f"      - run: python -m pytest {tests} -rA --junitxml misstep.xml",
        "        # If the agent needs a key, add it to the secrets of the repository:",
        "        # env:",
        "        #   OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}",
        "      - uses: actions/upload-artifact@v7",
        "        if: always()",
        "        with:",
        "          name: misstep",
        f"          path: {json.dumps(report)}",
    ]
    return "\n".join(lines) + "\n"


_SANDBOX = [
    "      - name: Install the sandbox for tools",
    "        run: |",
    "          sudo apt-get update -qq",
    "          sudo apt-get install -y -qq bubblewrap",
    "          # Ubuntu 24.04 and later restrict the namespaces that it needs.",
    "          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 || true",
]


def _installation(folder: Path, extras: str) -> list[str]:
    """Steps that install what the project needs, as far as its files tell, and misstep."""
    if (folder / "requirements.txt").is_file():
        own = ["      - run: python -m pip install -r requirements.txt"]
    elif _is_package(folder / "pyproject.toml"):
        own = ["      - run: python -m pip install -e ."]
    else:
        own = ["      # Install here what the agent needs."]
    known = install_command(extras).removeprefix("pip install ")
    named = shlex.quote(f"misstep[{extras}]" if extras else "misstep")
    if "git+" not in known and known != named:
        own.append(
            "      # misstep was installed from a folder: name a package or repository that GitHub can reach."
        )
    return [*own, f"      - run: python -m pip install pytest {known if 'git+' in known else named}"]


def _is_package(path: Path) -> bool:
    try:
        return "build-system" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
