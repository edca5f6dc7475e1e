"""The workflows of GitHub: what they name exists, and only publishing can publish."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packaging.bare import ROOT
from tests.packaging.test_metadata import project

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in ROOT.glob(".github/workflows/*.yml")}
RELEASE = WORKFLOWS["release"]["jobs"]
ON = True  # what YAML 1.1 makes of the word


def steps() -> Iterator[dict[str, Any]]:
    for workflow in WORKFLOWS.values():
        for job in workflow["jobs"].values():
            yield from job["steps"]


def scripts() -> str:
    return "\n".join(step["run"] for step in steps() if "run" in step)


def test_what_workflows_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    environments = re.findall(r"^ENVIRONMENTS := (.*)", makefile, re.MULTILINE)[0].split()
    targets = [
        *re.findall(r"^([\w-]+):", makefile, re.MULTILINE),
        *(f"environment-{name}" for name in environments),
    ]
    for target in re.findall(r"\bmake ([\w-]+)", scripts()):
        assert target in targets
    (script,) = re.findall(r"^bash (\S+)$", scripts(), re.MULTILINE)
    assert os.access(ROOT / script, os.X_OK)
    assert "docker build" in scripts()
    assert (ROOT / "Dockerfile").is_file()


def test_actions_are_of_known_owners_and_have_a_version() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert len(used) > 5
    for each in used:
        assert re.fullmatch(r"(actions/[\w-]+@v\d+|pypa/gh-action-pypi-publish@release/v1)", each), each


def test_no_script_has_an_expression_in_it() -> None:
    """Names of branches and tags are text from elsewhere: scripts get them as variables."""
    assert "${{" not in scripts()


# What may do more than read: an identity for the index, and pushing to the branch of the site.
MORE = {("release", "publish"): {"id-token": "write"}, ("docs", "publish"): {"contents": "write"}}


def test_only_publishing_may_do_more_than_read() -> None:
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}
        for job, each in workflow["jobs"].items():
            assert each.get("permissions") == MORE.get((name, job))
            assert each.get("environment") == ("pypi" if (name, job) == ("release", "publish") else None)
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_a_tag_publishes_both_distributions_once_they_are_tested() -> None:
    assert WORKFLOWS["release"][ON] == {"push": {"tags": ["v*"]}}
    assert (RELEASE["publish"]["needs"], RELEASE["test"]["needs"]) == ("test", "build")
    built = [
        step["run"].split() for step in RELEASE["build"]["steps"] if "build --outdir" in step.get("run", "")
    ]
    named = dict[str, str]()
    for *_, folder, source in built:
        found = tomllib.loads((ROOT / source / "pyproject.toml").read_text())
        named[found["project"]["name"]] = folder
    uploaded = [
        step["with"] for step in RELEASE["build"]["steps"] if "upload-artifact" in step.get("uses", "")
    ]
    assert {each["name"]: each["path"] for each in uploaded} == named
    assert {*RELEASE["publish"]["strategy"]["matrix"]["distribution"]} == named.keys()


def test_the_wheel_is_tested_on_every_python_that_is_named() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project(".")["classifiers"]))
    assert RELEASE["test"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize(
    ("tag", "date", "code"), [("v{}", "2026-12-01", 0), ("v9.9.9", "2026-12-01", 1), ("v{}", "unreleased", 1)]
)
def test_tag_version_and_changelog_have_to_agree(tmp_path: Path, tag: str, date: str, code: int) -> None:
    version = project(".")["version"]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{version}] - {date}\n")
    (check,) = [step["run"] for step in RELEASE["build"]["steps"] if "GITHUB_REF_NAME" in step.get("run", "")]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", check],
        cwd=tmp_path,
        env={"PATH": path, "GITHUB_REF_NAME": tag.format(version)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stdout + done.stderr
