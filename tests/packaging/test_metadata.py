"""What both distributions say of themselves."""

import re
import tomllib
from itertools import pairwise
from typing import Any

import pytest
from trove_classifiers import classifiers

from tests.packaging.bare import ROOT

HOME, PAGES = "https://github.com/misstep/misstep", "https://misstep.github.io/misstep/"
PLACES = {"Homepage", "Documentation", "Source", "Issues", "Changelog"}


def project(folder: str) -> Any:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("folder", [".", "adapter"])
def test_metadata_is_complete(folder: str) -> None:
    found = project(folder)
    assert set(found["classifiers"]) <= classifiers
    assert found["urls"].keys() == PLACES
    assert all(url.startswith((HOME, PAGES)) for url in found["urls"].values())
    assert found["keywords"]
    assert (ROOT / folder / found["readme"]).is_file()
    assert all((ROOT / folder / name).is_file() for name in found["license-files"])


def test_versions_of_python_have_no_gap() -> None:
    found = project(".")
    named = [int(minor) for minor in re.findall(r"Python :: 3\.(\d+)", "\n".join(found["classifiers"]))]
    assert f">=3.{named[0]}" == found["requires-python"]
    assert all(later == earlier + 1 for earlier, later in pairwise(named))


def test_the_changelog_has_a_section_for_this_version() -> None:
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert project(".")["version"] in sections
