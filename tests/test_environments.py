"""Environments for tests are made once and kept as long as their requirements are the same."""

import sys
from pathlib import Path

import pytest

from tests.environments import __main__ as environments

STAMP = environments.STAMP


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an environment named "small" is made: it has requirements, and they are none."""
    (tmp_path / "small.txt").write_text("# nothing\n")
    monkeypatch.setattr(environments, "HERE", tmp_path)
    return tmp_path / "made"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where something has been installed, in place of doing so."""
    places = list[Path]()

    def install(files: list[Path], made: Path, python: str) -> None:
        made.mkdir()
        places.append(made)

    monkeypatch.setattr(environments, "install", install)
    return places


def test_it_is_kept_until_its_requirements_change(made: Path, installed: list[Path], tmp_path: Path) -> None:
    environments.main("small", made)
    (made / "kept").touch()
    (tmp_path / "small.txt").touch()  # as after another checkout
    environments.main("small", made)
    assert (installed, (made / "kept").exists()) == ([made], True)
    (tmp_path / "small.txt").write_text("# something else\n")
    environments.main("small", made)
    assert (installed, (made / "kept").exists()) == ([made, made], False)


def test_another_python_makes_it_anew(
    made: Path, installed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    environments.main("small", made)
    monkeypatch.setattr(environments, "version_of", lambda python: "Python 3.99.0")
    environments.main("small", made)
    assert installed == [made, made]


def test_nothing_is_left_of_one_that_can_not_be_made(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.mkdir()
    (made / STAMP).write_text("an older one")
    environments.main("small", made, python="/nowhere/python")
    assert not made.exists()
    assert "no environment for small, its tests will be skipped" in capsys.readouterr().out


@pytest.mark.full
def test_a_real_one(made: Path) -> None:
    environments.main("small", made)
    assert (made / "bin" / "python").exists()
    assert (made / STAMP).read_text() == environments.stamp_of(
        environments.requirements("small"), sys.executable
    )


def test_servers_have_requirements_of_their_own() -> None:
    files = environments.requirements("servers")
    assert [path.name for path in files] == ["package-lock.json", "package.json"]
    assert all(path.exists() for path in files)
