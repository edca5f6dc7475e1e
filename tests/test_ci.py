"""The action and the snippets for CI: every line of shell in them is run."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents.pages import write_files
from tests.documents.site import PYTHON as DOCS_PYTHON
from tests.documents.site import copy_sources, needs_mkdocs, quiet

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PAGE = "docs/how-to/ci.md"
COMMAND = "plan test --agent agent.py:agent --count 12 --seed 1 --display none"


class Job:
    """A job on a machine of GitHub's, as far as steps of shell can tell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        self.summary = folder / "summary.md"
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / ".git").mkdir()
        write_files(PAGE, self.work)

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        known = {
            name: value for name, value in os.environ.items() if not name.startswith(("MISSTEP_", "GITHUB_"))
        }
        environment = {
            **known,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.work),
            # No network: what is there has to do.
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            **variables,
        }
        file = self.folder / "step.sh"
        file.write_text(script)
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)]
        return subprocess.run(command, cwd=self.work, env=environment, capture_output=True, text=True)

    def act(self, inputs: dict[str, str]) -> dict[str, subprocess.CompletedProcess[str]]:
        """All steps of shell of the action, each with its inputs as variables."""
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
        results = dict[str, subprocess.CompletedProcess[str]]()
        failed = False
        for step in ACTION["runs"]["steps"]:
            if "run" not in step or (failed and "always()" not in str(step.get("if", ""))):
                continue
            variables = {name: filled(value, given) for name, value in step.get("env", {}).items()}
            extra = {"PIP_TARGET": str(self.folder / "site")} if "pip install" in step["run"] else {}
            results[step["name"]] = self.run(step["run"], **variables, **extra)
            failed = failed or results[step["name"]].returncode != 0
        return results

    @property
    def outputs(self) -> dict[str, str]:
        lines = self.output.read_text().splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}


def filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.mark.full
def test_the_action_from_its_first_step_to_its_last(job: Job) -> None:
    steps = job.act({"command": COMMAND})
    install, run, sarif = steps.values()
    assert install.returncode == 0, install.stderr
    assert (job.folder / "site" / "misstep" / "__init__.py").exists()
    assert run.returncode == 1, run.stderr
    assert sarif.returncode == 0, sarif.stderr
    assert job.outputs == {"code": "1", "located": "true"}
    assert sorted(path.suffix for path in (job.work / "misstep-report").iterdir()) == [
        ".html",
        ".json",
        ".sarif",
        ".xml",
    ]
    assert "### ❌ misstep plan test: failed" in job.summary.read_text()


@pytest.mark.full
def test_the_action_beside_a_baseline(job: Job) -> None:
    given = {"command": COMMAND.replace("12", "100"), "baseline": "last", "report": "junit"}
    first = job.act(given)["Run misstep"]
    assert first.returncode == 0, first.stderr
    assert "there is no earlier run" in first.stdout
    (job.work / "agent.py").write_text("def agent(request, tools):\n    return 'no'\n")
    worse = job.act(given)["Run misstep"]
    assert worse.returncode == 1, worse.stderr
    assert "worse than baseline" in worse.stdout


def test_a_command_is_words_and_no_script(job: Job) -> None:
    hostile = "plan test --agent 'sim:$(touch gone)`touch gone`' ; touch gone"
    run = job.act({"command": hostile})["Run misstep"]
    assert run.returncode == 2
    assert job.outputs["code"] == "2"
    assert not (job.work / "gone").exists()


@pytest.mark.full
def test_findings_without_a_place_are_not_uploaded(job: Job) -> None:
    job.act({"command": "plan test --agent sim:greedy --count 20 --display none"})
    assert job.outputs["located"] == "false"
    (upload,) = [step for step in ACTION["runs"]["steps"] if "uses" in step]
    assert "steps.sarif.outputs.located == 'true'" in upload["if"]


def test_no_script_of_the_action_has_an_input_in_it() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "run" not in step or step["shell"] == "bash"
    names = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert names == set(ACTION["inputs"])


def last_command_of(target: str) -> str:
    """What `make TARGET` ends with; make says more where it was started by another make, as these tests may be."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", "--dry-run", target]
    told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return told.stdout.splitlines()[-1]


def test_our_own_ci_runs_all_tests() -> None:
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in script if line.startswith("make test")] == ["make test", "make test-all"]
    for target, tier in (("test", "fast"), ("test-all", "full")):
        assert last_command_of(target).endswith(f" --tier {tier}")


def test_a_warning_fails_the_documentation() -> None:
    """With `--quiet`, MkDocs would not count warnings, and `--strict` would never fail."""
    assert last_command_of("docs").endswith("bin/mkdocs build --strict")


def snippets() -> dict[str, Any]:
    """What the page shows as YAML, by the name in its first line."""
    blocks = re.findall(r"```yaml\n# ([^\n]+)\n(.*?)```", (ROOT / PAGE).read_text(), re.DOTALL)
    return {name: yaml.safe_load(text) for name, text in blocks}


def test_the_workflow_uses_the_action_as_it_is() -> None:
    (job,) = snippets()[".github/workflows/misstep.yml"]["jobs"].values()
    (step,) = [step for step in job["steps"] if "/misstep@" in step.get("uses", "")]
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert not [step for step in job["steps"] if "run" in step]
    texts = [path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    ours = dict(re.findall(r"uses: (\S+)@(\S+)", "\n".join(texts)))
    shown = dict(step["uses"].split("@") for step in job["steps"])
    assert {name: ours.get(name, version) for name, version in shown.items()} == shown


@pytest.mark.full
def test_the_command_of_the_workflow(job: Job) -> None:
    (found,) = snippets()[".github/workflows/misstep.yml"]["jobs"].values()
    (step,) = [step for step in found["steps"] if "/misstep@" in step.get("uses", "")]
    run = job.act({name: str(value) for name, value in step["with"].items()})["Run misstep"]
    assert run.returncode == 0, run.stderr
    assert job.outputs["located"] == "true"


@pytest.mark.full
@pytest.mark.parametrize("name", ["steps of a job", ".gitlab-ci.yml"])
def test_lines_of_the_snippets(job: Job, name: str) -> None:
    found = snippets()[name]
    lines = [step["run"] for step in found["steps"]] if "steps" in found else found["misstep"]["script"]
    assert len(lines) >= 2
    for line in lines:
        result = job.run(line)
        assert result.returncode == 0, f"{line}\n{result.stderr}"
    (report,) = (job.work / "misstep-report").glob("*.xml")
    assert len(ET.parse(report).findall(".//testcase")) == 50
    if name == ".gitlab-ci.yml":
        junit = found["misstep"]["artifacts"]["reports"]["junit"]
        assert [report] == list(job.work.glob(junit))
    else:
        assert (job.work / "summary.md").read_text().startswith("### misstep plan test")


WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "docs.yml").read_text())
PUBLISHING = {step["name"]: step["run"] for step in WORKFLOW["jobs"]["publish"]["steps"] if "run" in step}


class Publisher:
    """A clone with a repository that it pushes to, and the environment that the site is built in."""

    def __init__(self, folder: Path) -> None:
        self.origin, self.clone = folder / "origin.git", folder / "clone"
        self.clone.mkdir()
        copy_sources(self.clone)
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(self.origin))
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("remote", "add", "origin", str(self.origin))
        (self.clone / ".venv-docs").symlink_to(Path(DOCS_PYTHON).parents[1])
        install = PUBLISHING["Install"].replace("make environment-docs\n", "")
        assert install != PUBLISHING["Install"]
        self.run(install)
        self.git("add", "docs", "mkdocs.yml")
        self.git("commit", "--quiet", "--message", "Documentation")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, script: str, **variables: str) -> None:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        environment = {**quiet(), "SITE_URL": "https://owner.example/misstep/", **variables}
        done = subprocess.run(command, cwd=self.clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @property
    def default(self) -> str:
        """Which version the front page leads to."""
        (found,) = re.findall(r'href="([^"]+)/"', self.git("show", "origin/gh-pages:index.html"))
        return found

    @property
    def versions(self) -> dict[str, list[str]]:
        listed = yaml.safe_load(self.git("show", "origin/gh-pages:versions.json"))
        return {each["version"]: each["aliases"] for each in listed}


@pytest.mark.full
@needs_mkdocs
def test_documentation_is_published_by_version(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path)
    publisher.run(PUBLISHING["Publish dev"])
    assert (publisher.versions, publisher.default) == ({"dev": []}, "dev")
    publisher.run(PUBLISHING["Publish a version"], GITHUB_REF_NAME="v1.2.3")
    assert (publisher.versions, publisher.default) == ({"dev": [], "1.2.3": ["latest"]}, "latest")
    assert "Where to start" in publisher.git("show", "origin/gh-pages:latest/index.html")
    publisher.run(PUBLISHING["Publish dev"])
    assert publisher.default == "latest"
