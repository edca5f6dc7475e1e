"""Starts planning runs in separate processes, which continue when the server ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import msgspec

from misstep.core.constraint import Family
from misstep.core.settings import AgentRunSettings, AgentSettings, Settings, Span
from misstep.errors import MisstepError, UsageError
from misstep.models.providers import FREE
from misstep.planning.simulated.planners import PLANNERS
from misstep.runs.cases import suite_of
from misstep.runs.setup.configuration import PREFIX
from misstep.runs.setup.models import price_role
from misstep.store.runs import Store

MOST_AT_ONCE = 4
MOST_CASES = 100_000  # larger runs can be started from the command line
REMEMBERED = 50  # launches, the newest
POLL = 0.1  # seconds between two reads of a process's output
BEGINNING, END = 64_000, 4_000  # bytes of its output that are read
SIMULATED = tuple(f"sim:{name}" for name in PLANNERS)

# The line that names the run, as it is printed when not on a terminal.
_RUN = re.compile(rb"^run ([0-9a-z]{4,20})\b", re.MULTILINE)


class LaunchOrder(msgspec.Struct, frozen=True):
    """A run to start; `agent` is that of the settings, or a simulated planner."""

    agent: str
    actions: Span = Span(3, 5)
    count: int = 100
    family: tuple[Family, ...] = ("order",)
    seed: int = 0
    budget_usd: float | None = None


class LaunchProgress(msgspec.Struct, frozen=True):
    """The progress of a launch: its run once it exists, whether its process has ended, its output."""

    run: str
    ended: bool
    said: str


def agents_for(settings: AgentSettings) -> tuple[str, ...]:
    """The agents that may be started; no other name is passed to a command."""
    own = [settings.agent] if settings.agent else []
    return tuple(dict.fromkeys([*own, *SIMULATED]))


def costs_money(settings: AgentRunSettings) -> bool:
    """Whether the price of the agent's model is known, so that a budget makes sense."""
    try:
        return bool(settings.agent) and price_role(settings) not in (None, FREE)
    except UsageError:
        return False  # the price list is gone; starting a run reports that


class Launcher:
    """Starts runs that are stored in the store of the settings, a few at a time.

    The runs continue when it is closed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._launches: dict[int, _Launch] = {}
        self._count = 0
        self._elsewhere = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        launches = self._launches.values()
        if self._elsewhere and all(launch.ended.is_set() for launch in launches):
            shutil.rmtree(self._elsewhere, ignore_errors=True)  # else a continuing run still uses it
        for launch in launches:
            launch.log.close()

    def start(self, order: LaunchOrder) -> int:
        """Start a run; returns the number of its launch."""
        self._check(order)
        with self._lock:
            going = sum(not each.ended.is_set() for each in self._launches.values())
            if going >= MOST_AT_ONCE:
                hint = "wait for one to finish, or stop one"
                raise UsageError(f"{going} runs started here are still running", hint)
            self._count += 1
            self._launches[self._count] = self._launch(order)
            over = [number for number, each in self._launches.items() if each.ended.is_set()]
            for number in over[: max(0, len(self._launches) - REMEMBERED)]:
                self._launches.pop(number).log.close()
            return self._count

    def wait(self, number: int, seconds: float) -> LaunchProgress | None:
        """The progress of a launch, when it has a run or has ended, or after `seconds`.

        None if there is no such launch.
        """
        launch = self._launches.get(number)
        if launch is None:
            return None
        until = time.monotonic() + seconds
        while not self._find(launch) and not launch.ended.is_set() and time.monotonic() < until:
            launch.ended.wait(POLL)
        return LaunchProgress(self._find(launch), launch.ended.is_set(), launch.said())

    def can_stop(self, run: str) -> bool:
        """Whether this run was started here and is still running: a process outlives its run."""
        if self._going(run) is None:
            return False
        with Store(self._settings.store) as store:
            return store.is_held(run)

    def stop(self, run: str) -> bool:
        """Stop a run like Ctrl-C; it can be resumed. False if it can't be stopped."""
        launch = self._going(run)
        if launch is not None:
            launch.process.send_signal(signal.SIGINT)
        return launch is not None

    def _check(self, order: LaunchOrder) -> None:
        if order.agent not in agents_for(self._settings):
            raise UsageError(f"'{order.agent}' is not an agent that can be started here")
        if order.agent == self._settings.agent and self._settings.cases:
            hint = "omit that setting when starting misstep serve, or start the run on the command line"
            raise UsageError(f"the settings say that cases come from {self._settings.cases}", hint)
        if order.count > MOST_CASES:
            hint = "start larger runs on the command line"
            raise UsageError(f"{order.count:,} cases are more than {MOST_CASES:,}", hint)
        suite_of(Settings().overlay({"actions": order.actions, "family": order.family, "seed": order.seed}))

    def _launch(self, order: LaunchOrder) -> "_Launch":
        if order.agent == self._settings.agent:
            return _Launch(_command(order), os.getcwd(), {**os.environ, _STORE: self._settings.store})
        # Settings for the configured agent would be wrong for another one, whether they come from the
        # environment or from a file in this folder.
        clean = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        clean[_STORE] = _lasting(self._settings.store)
        self._elsewhere = self._elsewhere or tempfile.mkdtemp(prefix="misstep-")
        return _Launch(_command(order), self._elsewhere, clean)

    def _going(self, run: str) -> "_Launch | None":
        with self._lock:
            launches = list(self._launches.values())
        going = (each for each in launches if not each.ended.is_set())
        return next((each for each in going if self._find(each) == run), None)

    def _find(self, launch: "_Launch") -> str:
        """The run of a launch, once it is in the store: agents may also print what looks like its name."""
        for name in launch.named():
            try:
                with Store(self._settings.store) as store:
                    run = store.find_run(name)
            except MisstepError:
                continue
            if run.id == name and run.started >= launch.began:
                launch.run = name
        return launch.run


class _Launch:
    """One process in its own session, and its output."""

    def __init__(self, command: list[str], folder: str, environment: Mapping[str, str]) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as this
        self.began, self.run = time.time(), ""
        self.ended = threading.Event()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        threading.Thread(target=self._wait, daemon=True).start()

    def named(self) -> list[str]:
        """Possible names of the run, until it is known."""
        if self.run:
            return []
        said = os.pread(self.log.fileno(), BEGINNING, 0)
        return list(dict.fromkeys(found.decode() for found in _RUN.findall(said)))

    def said(self) -> str:
        size = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), END, max(0, size - END)).decode(errors="replace").strip()

    def _wait(self) -> None:
        """Wait for the process, so that it does not stay a zombie."""
        self.process.wait()
        self.ended.set()


_STORE = f"{PREFIX}STORE"  # an address may hold a password, which should not appear in a command line


def _command(order: LaunchOrder) -> list[str]:
    flags = {
        "agent": order.agent,
        "actions": str(order.actions),
        "count": str(order.count),
        "family": ",".join(order.family),
        "seed": str(order.seed),
        "display": "plain",
        "fail-on": "none",
    }
    given = [word for name, value in flags.items() for word in (f"--{name}", value)]
    given += [] if order.budget_usd is None else ["--budget-usd", str(order.budget_usd)]
    plain = ["--no-timed", "--no-exhaustive", "--no-dry-run"]
    return [sys.executable, "-m", "misstep", "plan", "test", *given, *plain]


def _lasting(store: str) -> str:
    """The same store with an absolute path."""
    scheme, separator, rest = store.partition("://")
    if not separator:
        return str(Path(store).absolute())
    return f"sqlite:///{Path(rest.removeprefix('/')).absolute()}" if scheme == "sqlite" else store
