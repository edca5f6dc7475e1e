"""Settings as command-line options: one source for names, help and checks."""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import click
import msgspec

from misstep.api.configuration import load_settings, parse_text
from misstep.core.settings import BUDGETS, LISTS, Settings, field_type
from misstep.errors import UsageError

_NAMES = {
    "agent_args": ("-A", "--agent-arg"),
    "from_run": ("--from",),
    "tool_method": ("--method",),
    "model_roles": ("--model-role",),
    "topics": ("--topic",),
}
_SEVERAL = ("agent_args", "model_roles", *LISTS)
_METAVARS = {
    "actions": "N-M",
    "agent": "AGENT",
    "agent_args": "KEY=VALUE",
    "beside": "RUN",
    "budget_time": "DURATION",
    "budget_usd": "DOLLARS",
    "usd_per_tool": "DOLLARS",
    "cases": "FILE",
    "checks": "CHECK",
    "context": "FILE",
    "confidence": "RATE",
    "difficulty": "BOUND",
    "fail_on": "GATE",
    "from_run": "RUN",
    "family": "FAMILY",
    "groups": "FILE",
    "model": "MODEL",
    "model_base_url": "URL",
    "model_roles": "ROLE=MODEL",
    "only": "TOOL",
    "out": "FILE",
    "plans": "FILE",
    "prices": "FILE",
    "prompt": "FILE",
    "prompts": "DIR",
    "python": "PATH",
    "ray_address": "ADDRESS",
    "report": "KIND",
    "report_dir": "DIR",
    "request": "NAME",
    "resume": "RUN",
    "store": "PATH|URL",
    "temperature": "T",
    "time_per_request": "DURATION",
    "time_per_tool": "DURATION",
    "tools": "SPEC",
    "topics": "NAME",
    "width": "ACTIONS",
    "workspace": "DIR",
}

SYNTHESIS = (
    "actions",
    "family",
    "timed",
    "attempts",
    "distractors",
    "tools",
    "difficulty",
    "count",
    "seed",
    "topics",
    "sentences",
    "iterations",
    "redundancy",
    "group",
    "relative",
    "request",
    "exhaustive",
)

AGENTS = (
    "agent",
    "agent_args",
    "model",
    "model_base_url",
    "model_roles",
    "temperature",
    "prompt",
    "retries",
    "requests",
    "requests_per_minute",
    "cache",
    "prices",
    "python",
    "record_proxy",
)

LIMITS = ("jobs", "timeout", "max_steps", "parallel", "messages")

RUNNING = ("dry_run", "on", "ray_address", "resume", "store", "report", "report_dir", "display", "json")

CURVE = ("per_pair", "most_cases", "threshold", "full", "adaptive", "width")

INQUIRY = ("method", "sample", "mutations", "confidence", "most_runs")

FUZZING = (
    "only",
    "time_per_tool",
    "calls_per_tool",
    "from_run",
    "memory",
    "sandbox",
    "allow_network",
    "workspace",
)

# Where an agent has the tools that are tested.
TRYING = (
    "agent",
    "agent_args",
    "model",
    "model_base_url",
    "model_roles",
    "temperature",
    "prompt",
    "prompts",
    "retries",
    "requests_per_minute",
    "cache",
    "prices",
    "max_steps",
    "time_per_request",
    "tokens_per_tool",
    "usd_per_tool",
)

# What makes and judges sets of requests that mean the same.
CONSISTENCY = ("tool_method", "variants", "checks", "normalise", "context")

# What settings mean there.
ABOUT_TRYING = {
    "agent": "The agent that has the tools: tools, react, file.py:name, mcp:COMMAND, …",
    "max_steps": "Turns the agent is allowed for one request.",
    "timeout": "Seconds allowed for one call of a tool.",
}

_FIXED_BY_A_RUN = (
    *AGENTS,
    *SYNTHESIS,
    "cases",
    *LIMITS,
    *CURVE,
    *INQUIRY,
    *FUZZING,
    *TRYING,
    "groups",
    "requests_per_crash",
    "skip_sanity",
    *CONSISTENCY,
)


def settings_options(
    *names: str,
    usual: Mapping[str, Any] = MappingProxyType({}),
    preset: Mapping[str, Any] = MappingProxyType({}),
    about: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options for these settings, and the joined `Settings` as its first argument.

    `usual` are values that are the command's own unless somebody says otherwise, `preset` those that only the
    command line can change. `about` says what settings mean to this command, where that is something else.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def wrapper(**given: Any) -> Any:
            layer = {name: _parse(name, given.pop(name)) for name in names if _is_given(given, name)}
            _refuse_contradictions(layer)
            rest = {name: value for name, value in given.items() if name not in names}
            return command(_joined(layer, usual, preset), **rest)

        decorated: Callable[..., Any] = wrapper
        for name in reversed(names):
            decorated = _option(name, {**usual, **preset}, about.get(name))(decorated)
        return decorated

    return decorate


def flag(name: str) -> str:
    """The long option of a setting."""
    return _NAMES.get(name, (f"--{name.replace('_', '-')}",))[-1]


def _option(
    name: str, usual: Mapping[str, Any], about: str | None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    default = usual.get(name, getattr(Settings(), name))
    nothing = default is None or default is False or default in ("", (), {})
    shown = "" if nothing else f"  [default: {', '.join(default) if name in LISTS else default}]"
    described = f"{about or _description(name)}{shown}"
    if isinstance(field_type(name), msgspec.inspect.BoolType):
        return click.option(f"{flag(name)}/--no-{flag(name)[2:]}", name, default=None, help=described)
    declared = _NAMES.get(name, (flag(name),))
    return click.option(
        *declared, name, multiple=name in _SEVERAL, default=None, help=described, metavar=_metavar(name)
    )


def _metavar(name: str) -> str:
    match field_type(name):
        case msgspec.inspect.LiteralType(values=values):
            return "|".join(map(str, values))
        case msgspec.inspect.IntType():
            return "N"
        case msgspec.inspect.FloatType(le=high) if name not in _METAVARS:
            return "RATE" if high == 1 else "SECONDS"
        case _:
            return _METAVARS[name]


def _description(name: str) -> str:
    kind = Settings.__annotations__[name]
    return next(str(meta.description) for meta in get_args(kind)[1:] if meta.description)


def _joined(layer: dict[str, Any], usual: Mapping[str, Any], preset: Mapping[str, Any]) -> Settings:
    """The settings with those of the command line on top; a resumed run brings a budget of its own."""
    settings = load_settings(Path.cwd(), usual=usual).overlay(preset)
    if "resume" in layer:
        settings = settings.overlay(dict.fromkeys(BUDGETS))
    return settings.overlay(layer)


def _is_given(given: dict[str, Any], name: str) -> bool:
    return given.get(name) not in (None, ())


def _refuse_contradictions(layer: dict[str, Any]) -> None:
    """Flags that would be ignored beside another are a mistake."""
    for chief, others in (("resume", (*_FIXED_BY_A_RUN, "dry_run")), ("cases", SYNTHESIS)):
        vain = [flag(name) for name in dict.fromkeys(others) if name in layer and name != chief]
        if chief in layer and vain:
            raise UsageError(f"{' and '.join(vain)} can't go with {flag(chief)}", f"leave {vain[0]} out")


def _parse(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    items = list(value) if isinstance(value, tuple) else [value]
    if "" in items:
        raise UsageError("is empty", "give it a value or leave it out", where=flag(name))
    return parse_text(name, items, items[0], flag(name))
