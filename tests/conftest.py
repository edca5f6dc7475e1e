"""What all rooms need: places for stores, of every kind that misstep works with.

The command line, run whole in a folder of its own.
"""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import make_url

from misstep.cli import run
from tests.postgresql import GIVEN, Server, find_binaries, running_server
from tests.processes import children

pytest_plugins = ["tests.tiers"]

# What is loaded stays: to look through it for garbage again and again would be a sixth of the collection's time.
gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nobody here talks to the world, whose certificates are most of what a client takes to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_thread_per_model() -> Iterator[None]:
    """The embedded model's threads wait for one another, and three times as long beside other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs are signed with a key of the tests' own; whoever runs them keeps theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_session() -> Iterator[None]:
    """Whether systemd manages this session, and lets tools have cgroups, is not to change what is shown."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("XDG_RUNTIME_DIR", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A job in the background is deaf to interrupts, and so would be all that the tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def begotten() -> Callable[[], set[int]]:
    """The processes begotten since the test began that still live."""
    before = children()
    return lambda: children() - before


@pytest.fixture
def hurried_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    """For thousands of questions: Z3's Python side doesn't look at the types of all it is given, as under `-O`.

    It does so in all other tests, which put constraints of every kind to it.
    """
    monkeypatch.setattr("z3.z3.Z3_DEBUG", False)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """One server per worker, or the one that the environment names."""
    if given := os.environ.get(GIVEN):
        yield Server(make_url(given))
        return
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(f"no PostgreSQL server is installed, and {GIVEN} names none")
    with running_server(binaries) as server:
        yield server


@pytest.fixture
def postgresql_location(postgresql_server: Server) -> Iterator[str]:
    """The address of an empty database, password included."""
    with postgresql_server.database() as location:
        yield location


@pytest.fixture(params=["sqlite", "postgresql"])
def store_location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store that isn't there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "a" / "store.db")
    location: str = request.getfixturevalue("postgresql_location")
    return location


class Result(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture
def misstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """`misstep("plan", "synth", …)` in an empty folder, with what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in (
        "GITHUB_STEP_SUMMARY",
        "NO_COLOR",
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
        *(name for name in os.environ if name.startswith("MISSTEP_")),
    ):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Result:
        code = run(list(arguments))
        printed = capfd.readouterr()
        return Result(code, printed.out, printed.err)

    return call
