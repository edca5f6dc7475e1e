"""Prepares what is to be tested, and settings given as keyword arguments; runs tests beside event loops."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from misstep.adapters.loading.homes import ObjectHome, handed_over, home_of
from misstep.adapters.loading.recognition import KINDS, recognise
from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.agent import Agent
from misstep.core.event import Event, Listener, RunStarted
from misstep.core.settings import BUDGETS, Settings, StoreSettings
from misstep.core.settings.reading import FIELDS, parse_setting
from misstep.errors import UsageError, did_you_mean
from misstep.runs.setup.configuration import (
    AGENTS,
    CALLING,
    FUZZING,
    LIMITS,
    SYNTHESIS,
    TRYING,
    SharedAgent,
    join,
)
from misstep.store.location import way_to

_RUN = (*BUDGETS, "store", "on", "ray_address")
OF_PLANNING = tuple(name for name in (*AGENTS, *SYNTHESIS, "cases", *LIMITS, *_RUN) if name != "agent")
_ALSO_OF_TOOLS = ("requests_per_crash", "tool_method", "skip_sanity", "count", "timeout", "store")
OF_TOOLS = (*FUZZING, *TRYING, *CALLING, *_ALSO_OF_TOOLS)


def overlaid(
    settings: Settings,
    given: Mapping[str, Any],
    known: Collection[str],
    where: str,
    also: Collection[str] = (),
    uses: SharedAgent = "any",
) -> Settings:
    """The settings overridden by the given ones; `also` are other valid names, for error messages.

    `uses` says whether an agent is used that only a file or the environment names.
    """
    valid = [*known, *also]
    for name in given:
        if name not in known:
            hint = "that setting does not apply here" if name in FIELDS else did_you_mean(name, valid)
            takes = "" if hint else f"it takes {', '.join(sorted(valid))}"
            raise UsageError(f"there is no '{name}' here", hint, takes, where=where)
    parsed = {name: parse_setting(name, _written(name, value), where) for name, value in given.items()}
    return join(settings, parsed, uses)


def _written(name: str, value: Any) -> Any:
    """The value as it would be in a configuration file."""
    if name == "actions" and isinstance(value, tuple | list) and len(value) == 2:
        return f"{value[0]}-{value[1]}"
    if name == "actions" and not isinstance(value, bool | int):
        return str(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value


class ObjectOrigin(msgspec.Struct, frozen=True):
    """Where an object comes from: its name, and the function that made it, if that can be called again."""

    name: str = ""
    maker: Any = None

    def home_of(self, value: Any) -> ObjectHome | None:
        made = home_of(self.maker) if self.maker is not None else None
        return home_of(value) or (made and msgspec.structs.replace(made, called=True))


class SubjectUnderTest(msgspec.Struct, frozen=True):
    """An agent (None if the settings name it), and whether later commands can find it by name."""

    agent: Agent | None
    settings: Settings
    is_found: bool


def agent_from(value: Any, settings: Settings, origin: ObjectOrigin) -> SubjectUnderTest:
    """The agent that an object is, or that a text names, as with `--agent`."""
    if isinstance(value, str):
        return SubjectUnderTest(None, settings.overlay({"agent": value}), True)
    if value is None:
        expected = ["expected one of:", *(f"  {kind}" for kind in KINDS)]
        raise UsageError(f"{origin.name or 'None'} returns no agent", *expected)
    home = origin.home_of(value)
    # A function without parameters is called anyway.
    spec = home.spec.removesuffix("()") if home else ""
    name = origin.name or name_of(value)
    loaded = recognise(value, name, spec)
    if loaded.framework and loaded.framework.own_process:
        spec = handed_over(value, home, name, _shelf(settings)).removesuffix("()")
        return SubjectUnderTest(SubprocessAgent(spec, sys.executable, spec), settings, True)
    return SubjectUnderTest(loaded.agent, settings, bool(spec))


def specs_from(value: Any, settings: StoreSettings, origin: ObjectOrigin) -> Sequence[str]:
    """Specs of the tools that an object is or holds; a text is already a spec."""
    if value is None or value in ((), []):
        hint = "expected a tool, a list of them, or a spec"
        raise UsageError(f"{origin.name or 'None'} returns no tools", hint)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return value
    return [handed_over(value, origin.home_of(value), origin.name or name_of(value), _shelf(settings))]


def name_of(value: Any) -> str:
    return str(getattr(value, "__name__", None) or type(value).__name__)


def at_home(settings: Settings, folder: Path) -> Settings:
    """The settings with a store path that is valid from any folder."""
    if "://" in settings.store:
        return settings
    return settings.overlay({"store": str(folder / settings.store)})


def way_from_here(settings: StoreSettings) -> str:
    """The options that a command needs to find the store from here."""
    if "://" in settings.store:
        return way_to(settings.store)
    inside = os.path.relpath(settings.store)
    return way_to(settings.store if inside.startswith(os.pardir) else inside)


def _shelf(settings: StoreSettings) -> Path:
    """A folder beside the store, for objects that a separate process has to load."""
    store = Settings().store if "://" in settings.store else settings.store
    return Path(store).absolute().parent / "objects"


T = TypeVar("T")
TICK = 0.2  # seconds


def away_from_loops(work: Callable[[Listener], T]) -> T:
    """The result of `work`, run in a separate thread if this one has a running event loop.

    `work` has to pass its listener to the run, because Ctrl-C reaches the run through it.
    """
    brake = _Brake()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(brake)
    done, context = Future[T](), copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work, brake))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="run", daemon=True).start()
    try:
        # The system may deliver the signal to any thread, and this one notices it only when it wakes up.
        while not wait([done], TICK).done:
            pass
    except KeyboardInterrupt:
        brake.pull()
    return done.result()


class _Brake:
    """Stops a run from another thread, at the latest when it starts."""

    def __init__(self) -> None:
        self._is_pulled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):  # sent by the run's main task
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._is_pulled:
                self.pull()

    def pull(self) -> None:
        self._is_pulled = True
        if self._loop and self._task:
            with suppress(RuntimeError):  # it is already over
                self._loop.call_soon_threadsafe(self._task.cancel)
