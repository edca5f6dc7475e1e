"""`misstep doctor` says what works here, and changes nothing."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from misstep.errors import install_command
from misstep.features.doctor import run as doctor
from misstep.models.providers import load_providers
from tests.conftest import Command, misstep

__all__ = ["misstep"]

ROOT = Path(__file__).parents[3]
SECRET = "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in load_providers().values():
        monkeypatch.delenv(provider.key or "NONE", raising=False)


def checks(misstep: Command, code: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    printed = misstep("doctor", "--json")
    assert (printed.code, printed.err) == (code, "")
    value = json.loads(printed.out)
    assert value["ok"] == (code == 0)
    return {(check["section"], check["name"]): check for check in value["checks"]}


def test_in_an_empty_folder(tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = misstep("doctor")
    assert (printed.code, printed.err) == (0, "")
    assert list(tmp_path.iterdir()) == []  # no store
    assert max(len(line.rstrip()) for line in printed.out.splitlines() if "Install" not in line) <= 80
    lines = [line.split() for line in printed.out.splitlines()]
    assert lines[0][:4] == ["misstep", "version", "ok", f"{version('misstep')},"]
    assert ["settings", "file", "ok", "none:", "defaults", "are", "used"] in lines
    assert "none yet: the first run creates it" in printed.out
    assert "Nothing that misstep needs is broken." in printed.out


def test_every_extra_is_known_by_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {*project["optional-dependencies"]} - {"test"}
    assert {*doctor.PURPOSES} == extras


def test_extras(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "hypothesis": "6.200",
        "cloudpickle": "3.1",
        "mcp": "3.0.1",
        "openai": "3.9.1",
        "z3-solver": "4.13",
    }
    monkeypatch.setattr(doctor, "_version", lambda package: found.get(package, ""))
    seen = checks(misstep)
    assert {name for section, name in seen if section == "extras"} == {*doctor.PURPOSES}
    assert seen["extras", "fuzz"]["detail"] == "cloudpickle 3.1, hypothesis 6.200"
    assert seen["extras", "z3"]["state"] == "ok"
    assert seen["extras", "web"] == {
        "section": "extras",
        "name": "web",
        "state": "missing",
        "detail": "for serve, label --web",
        "fix": install_command("web"),
    }
    assert seen["extras", "openai"]["state"] == "missing"
    assert seen["extras", "openai"]["detail"].endswith("; openai 3.9.1, needs >=3.40")
    assert seen["extras", "mcp"]["detail"].endswith("; mcp 3.0.1, needs <3,>=2.3")
    assert f"Install an extra: {install_command('NAME')}" in misstep("doctor").out


def test_the_sandbox_is_tried(misstep: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    seen = checks(misstep)["sandbox", "bubblewrap"]
    assert (seen["state"], seen["detail"]) == ("missing", "bubblewrap is not installed")
    assert "apt install bubblewrap" in seen["fix"]
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    seen = checks(misstep)["sandbox", "bubblewrap"]
    assert seen["detail"] == "bubblewrap does not work here: setting up uid map: Permission denied"
    assert "apparmor_restrict_unprivileged_userns=0" in seen["fix"]
    assert "--sandbox none" in seen["fix"]


def test_keys_are_named_and_never_shown(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", SECRET)
    monkeypatch.setenv("XAI_API_KEY", "")
    seen = checks(misstep)
    assert seen["keys", "GROQ_API_KEY"]["state"] == "ok"
    assert seen["keys", "XAI_API_KEY"]["state"] == "missing"
    printed = misstep("doctor").out
    assert SECRET not in printed + json.dumps(list(seen.values()))
    assert "GROQ_API_KEY" in printed


def test_the_settings_file_in_force(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.misstep]\ncount = 3\njobs = 2\n")
    assert checks(misstep)["settings", "file"]["detail"] == "pyproject.toml: 2 set"
    (tmp_path / "misstep.toml").write_text("count = 3\n")
    assert checks(misstep)["settings", "file"]["detail"] == "misstep.toml: 1 set"


@pytest.mark.parametrize(
    ("text", "detail", "fix"),
    [
        ("cuont = 3\n", "misstep.toml:1: unknown setting 'cuont'", "Did you mean 'count'?"),
        ("count = \n", "misstep.toml: is not valid TOML", "Invalid value (at line 1, column 9)"),
    ],
)
def test_settings_that_are_not_valid(
    tmp_path: Path, misstep: Command, text: str, detail: str, fix: str
) -> None:
    (tmp_path / "misstep.toml").write_text(text)
    seen = checks(misstep, code=1)["settings", "file"]
    assert (seen["state"], seen["detail"], seen["fix"]) == ("broken", detail, fix)
    printed = misstep("doctor")
    assert printed.code == 1
    assert printed.out.endswith("\nBroken: settings file\n")


def test_variables(misstep: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSTEP_MODEL", "local")
    assert checks(misstep)["settings", "variables"]["detail"] == "MISSTEP_MODEL"
    monkeypatch.setenv("MISSTEP_CUONT", "3")
    seen = checks(misstep, code=1)["settings", "variables"]
    assert (seen["state"], seen["fix"]) == ("broken", "Did you mean 'MISSTEP_COUNT'?")


def test_the_store(tmp_path: Path, misstep: Command) -> None:
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "2", "--store", "own.db")
    (tmp_path / "misstep.toml").write_text('store = "own.db"\n')
    assert checks(misstep)["store", "own.db"]["detail"] == "1 run"
    (tmp_path / "own.db").write_text("no database at all, and long enough to be one" * 50)
    seen = checks(misstep, code=1)["store", "own.db"]
    assert seen["state"] == "broken"
    assert misstep("doctor").out.endswith("\nBroken: store own.db\n")


def test_a_store_on_a_server_hides_its_password(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "misstep.toml").write_text(f'store = "postgresql://me:{SECRET}@127.0.0.1:1/x"\n')
    seen = checks(misstep, code=1)
    assert seen["store", "postgresql://me@127.0.0.1:1/x"]["state"] == "broken"
    assert SECRET not in json.dumps(list(seen.values())) + misstep("doctor").out


def test_no_framework_is_loaded() -> None:
    heavy = (
        "langchain",
        "langchain_core",
        "openai",
        "anthropic",
        "crewai",
        "mcp",
        "ray",
        "z3",
        "hypothesis",
        "pyarrow",
    )
    code = (
        "import sys; from misstep.cli import run; code = run(['doctor', '--json'])\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    known = {name: value for name, value in os.environ.items() if not name.startswith("MISSTEP_")}
    done = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.parametrize(
    ("number", "bounds", "fits"),
    [
        ("3.40", ">=3.40", True),
        ("3.9", ">=3.40", False),
        ("2.3.0rc1", ">=2.3,<3", True),
        ("3.0", ">=2.3,<3", False),
        ("1.0", "", True),
        ("unknown", ">=1", False),
    ],
)
def test_versions(number: str, bounds: str, fits: bool) -> None:
    assert doctor._fits(number, bounds) is fits
