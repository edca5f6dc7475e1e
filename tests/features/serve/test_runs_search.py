"""Finding runs in the list by what is known about them."""

from pathlib import Path

import pytest

from misstep.cli import run
from misstep.core.settings import Settings
from misstep.runs.lookup import look_over
from misstep.store.runs import Run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("search") / "store.db")
    for agent, more in (
        ("sim:greedy", ["--name", "nightly", "--tag", "ci"]),
        ("sim:perfect", ["--tag", "ci"]),
        ("sim:random", []),
    ):
        command = ["plan", "test", "--agent", agent, "--count", "2", "--fail-on", "none"]
        assert run([*command, "--display", "none", "--json", "--store", place, *more]) == 0
    return place


def agents(store: str, search: str, most: int = 50) -> list[str]:
    found, total = look_over(Settings(store=store), 0, most, search)
    names = [each.run.settings.agent for each in found if isinstance(getattr(each, "run", None), Run)]
    assert total >= len(names)
    return names


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", ["sim:random", "sim:perfect", "sim:greedy"]),
        ("nightly", ["sim:greedy"]),
        ("#ci", ["sim:perfect", "sim:greedy"]),
        ("#CI greedy", ["sim:greedy"]),
        ("plan test", ["sim:random", "sim:perfect", "sim:greedy"]),
        ("#nightly", []),
        ("tool fuzz", []),
    ],
)
def test_every_word_has_to_be_there(search: str, found: list[str], store: str) -> None:
    assert agents(store, search) == found


def test_the_total_is_that_of_what_was_found(store: str, tmp_path: Path) -> None:
    found, total = look_over(Settings(store=store), 0, 1, "#ci")
    assert (len(found), total) == (1, 2)
