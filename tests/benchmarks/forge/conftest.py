"""One forge for all tests of a process, as new for each of them."""

from collections.abc import Iterator

import pytest

from misstep.benchmarks.forge.forge import Forge


@pytest.fixture(scope="session")
def running() -> Iterator[Forge]:
    with Forge() as forge:
        yield forge


@pytest.fixture
def forge(running: Forge, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    yield running
    assert running.errors == []
    running.reset()
