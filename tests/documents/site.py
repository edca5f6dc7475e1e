"""The documentation as a site, built in the environment that `make docs` uses."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.subject_subprocess import find_python
from tests.documents.pages import ROOT

PYTHON = find_python("TEST_DOCS_PYTHON", ".venv-docs")
needs_mkdocs = pytest.mark.skipif(not PYTHON, reason="MkDocs needs TEST_DOCS_PYTHON or .venv-docs")
SOURCES = (
    "mkdocs.yml",
    "docs",
    "CHANGELOG.md",
    "benchmarks/RESULTS.md",
    "adapter/README.md",
)


def build(folder: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    return subprocess.run(command, cwd=root, env=quiet(), capture_output=True, text=True)


def quiet() -> dict[str, str]:
    """Variables of this process, without those that the site's settings take, or announcements of its makers."""
    kept = {name: value for name, value in os.environ.items() if name not in ("SITE_URL", "REPO_URL")}
    return {**kept, "NO_MKDOCS_2_WARNING": "1"}


def copy_sources(folder: Path) -> None:
    """All that the site is made of."""
    for name in SOURCES:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
