"""Prepares what is to be tested, given as an object or by name, and settings given as keyword arguments."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from misstep.adapters.loading.homes import ObjectHome, handed_over, home_of
from misstep.adapters.loading.recognition import KINDS, recognise
from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.agent import Agent
from misstep.core.settings import BUDGETS, FIELDS, Settings, parse_setting
from misstep.errors import UsageError, did_you_mean
from misstep.runs.setup.configuration import AGENTS, CALLING, FUZZING, LIMITS, SYNTHESIS, TRYING
from misstep.store.location import way_to

_RUN = (*BUDGETS, "store", "on", "ray_address")
OF_PLANNING = tuple(name for name in (*AGENTS, *SYNTHESIS, "cases", *LIMITS, *_RUN) if name != "agent")
OF_TOOLS = (
    *FUZZING,
    *TRYING,
    *CALLING,
    "requests_per_crash",
    "tool_method",
    "skip_sanity",
    "count",
    "timeout",
    "store",
)


def overlaid(
    settings: Settings,
    given: Mapping[str, Any],
    known: Collection[str],
    where: str,
    also: Collection[str] = (),
) -> Settings:
    """The settings overridden by the given ones; `also` are other valid names, for error messages."""
    for name in given:
        if name not in known:
            hint = (
                "that setting is for something else"
                if name in FIELDS
                else did_you_mean(name, [*known, *also])
            )
            takes = "" if hint else f"it takes {', '.join(sorted([*known, *also]))}"
            raise UsageError(f"there is no '{name}' here", hint, takes, where=where)
    return settings.overlay(
        {name: parse_setting(name, _written(name, value), where) for name, value in given.items()}
    )


def _written(name: str, value: Any) -> Any:
    """The value as it would be in a configuration file."""
    if name == "actions" and isinstance(value, tuple | list) and len(value) == 2:
        return f"{value[0]}-{value[1]}"
    if name == "actions" and not isinstance(value, bool | int):
        return str(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value


SHELF = "objects"  # a folder beside the store


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
        raise UsageError(f"{origin.name or 'None'} gives no agent", *expected)
    home = origin.home_of(value)
    # A function without parameters is called anyway.
    spec = home.spec.removesuffix("()") if home else ""
    name = origin.name or name_of(value)
    loaded = recognise(value, name, spec)
    if loaded.framework and loaded.framework.own_process:
        spec = handed_over(value, home, name, _shelf(settings)).removesuffix("()")
        return SubjectUnderTest(SubprocessAgent(spec, sys.executable, spec), settings, True)
    return SubjectUnderTest(loaded.agent, settings, bool(spec))


def specs_from(value: Any, settings: Settings, origin: ObjectOrigin) -> Sequence[str]:
    """Specs of the tools that an object is or holds; a text is already a spec."""
    if value is None or value in ((), []):
        raise UsageError(
            f"{origin.name or 'None'} gives no tools", "expected a tool, a list of them, or a spec"
        )
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return value
    home = origin.home_of(value)
    name = origin.name or name_of(value)
    return [handed_over(value, home, name, _shelf(settings))]


def name_of(value: Any) -> str:
    return str(getattr(value, "__name__", None) or type(value).__name__)


def at_home(settings: Settings, folder: Path) -> Settings:
    """The settings with a store path that is valid from any folder."""
    if "://" in settings.store:
        return settings
    return settings.overlay({"store": str(folder / settings.store)})


def way_from_here(settings: Settings) -> str:
    """The options that a command needs to find the store from here."""
    if "://" in settings.store:
        return way_to(settings.store)
    inside = os.path.relpath(settings.store)
    return way_to(settings.store if inside.startswith(os.pardir) else inside)


def _shelf(settings: Settings) -> Path:
    store = Settings().store if "://" in settings.store else settings.store
    return Path(store).absolute().parent / SHELF
