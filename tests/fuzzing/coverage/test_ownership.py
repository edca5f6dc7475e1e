"""Whose code a file is."""

import json
import json.decoder
import os
import sysconfig
from pathlib import Path

import msgspec
import pytest

import misstep.core.rng
from misstep.fuzzing.coverage import Ownership

SITE = Path(msgspec.__file__).parents[1]


def test_a_tool_of_the_users_owns_its_directory(tmp_path: Path) -> None:
    owns = Ownership([str(tmp_path / "tools.py")]).owns
    assert owns(str(tmp_path / "tools.py"))
    assert owns(str(tmp_path / "deep" / "er" / "parts.py"))
    assert not owns(str(tmp_path.parent / "other.py"))
    assert not owns(f"{tmp_path}-other/tools.py")


def test_what_is_installed_below_it_is_not_its_own(tmp_path: Path) -> None:
    owns = Ownership([str(tmp_path / "tools.py")]).owns
    assert not owns(str(tmp_path / ".venv" / "lib" / "site-packages" / "lib" / "a.py"))
    assert not owns(str(tmp_path / "dist-packages" / "single.py"))


def test_an_installed_tool_owns_its_top_level_package() -> None:
    owns = Ownership([str(SITE / "kit" / "tools" / "files" / "read.py")]).owns
    assert owns(str(SITE / "kit" / "__init__.py"))
    assert owns(str(SITE / "kit" / "other" / "a.py"))
    assert not owns(str(SITE / "kit_more" / "a.py"))
    assert not owns(msgspec.__file__)


def test_an_installed_module_owns_itself() -> None:
    owns = Ownership([str(SITE / "single.py")]).owns
    assert owns(str(SITE / "single.py"))
    assert not owns(str(SITE / "other.py"))


def test_the_standard_library_and_misstep_are_nobodys(tmp_path: Path) -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    owns = Ownership([str(library.parents[2] / "tools.py"), misstep.core.rng.__file__]).owns
    assert owns(str(library.parents[2] / "tools.py"))
    assert not owns(json.__file__)
    assert not owns(misstep.core.rng.__file__)


def test_a_tool_out_of_the_standard_library_owns_its_package() -> None:
    owns = Ownership([json.__file__]).owns
    assert owns(json.decoder.__file__)
    assert not owns(os.__file__)


@pytest.mark.parametrize("name", ["", "<string>", "<frozen importlib._bootstrap>", "a\0b"])
def test_what_is_no_file_is_nobodys(name: str, tmp_path: Path) -> None:
    assert not Ownership([str(tmp_path / "tools.py")]).owns(name)
    assert not Ownership([]).owns(name)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Ownership([str(tmp_path / "link" / "tools.py")]).owns(str(tmp_path / "real" / "a.py"))
