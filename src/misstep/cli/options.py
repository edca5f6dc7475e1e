"""Turns settings into command-line options, and joins them with files and the environment."""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from misstep.cli.completion import Complete, complete_agents, complete_runs, from_paths, from_values
from misstep.cli.help import Switch
from misstep.core.settings import MEANS, TABLES, OutputSettings, Settings, setting_names
from misstep.core.settings.reading import LISTS, field_type, help_text, listed_choices
from misstep.errors import UsageError
from misstep.runs.setup.configuration import (
    AGENTS,
    FUZZING,
    LIMITS,
    SYNTHESIS,
    TRYING,
    SharedAgent,
    join,
    load_settings,
    parse_text,
)

SHOWN = 50  # characters of the given value


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions
    """A number from `least` to `most`."""

    name = "n"

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, _: click.Context | None) -> int:
        try:
            if self.least <= int(value) <= self.most:
                return int(value)
        except ValueError:
            pass
        expected = f"expected a whole number from {self.least:,} to {self.most:,}"
        where = param.opts[-1] if param else ""
        raise UsageError(f"invalid value {str(value)[:SHOWN]!r}", expected, where=where) from None


PORT = WholeNumber(0, 65_535)
MOST = WholeNumber(0, 10**9)


# Where a run is stored, and who is told about it.
KEEPING = setting_names("run_name tags resume trust_store store report report_dir step_summary display json")

# An agent given on the command line to replace the one that a run was started with.
TYPED = {"agent": "", "python": ""}
ABOUT_TYPED = {
    "agent": "Agent to run (default: the run's own).",
    "python": "Python interpreter to run the agent in (default: the run's own).",
}

# When a command fails.
GATE = ("fail_on", "baseline")

# Where else each case is sent.
TRACING = ("otlp", "otlp_content")

RUNNING = ("dry_run", "on", "ray_address", *TRACING, *KEEPING)

CURVE = ("per_pair", "most_cases", "threshold", "full", "adaptive", "width")

# What is shown next to a curve.
CURVES_BESIDE = ("beside", "published")

INQUIRY = ("method", "sample", "mutations", "confidence", "most_runs")

# For commands without --baseline.
ABOUT_FAIL_ON = "When to exit with 1: any, none or threshold:RATE (default: any)."

# What the settings mean there, unless the command is not about tools.
ABOUT_TRYING = {
    "agent": "Agent that uses the tools: tools, react, file.py:name, mcp:COMMAND, …",
    "python": "Python interpreter to run the agent and the tools in, in separate processes.",
    "max_steps": "Maximum turns per request.",
    "timeout": "Timeout for one tool call, in seconds.",
    "jobs": "Tools tested concurrently.",
}

# How sets of paraphrases are made and judged.
CONSISTENCY = ("tool_method", "variants", "checks", "normalise", "context")

# Which tasks of a benchmark.
TASKS = ("split", "kinds", "domains", "data")

# How better descriptions are found, and what they are scored on.
FIXING = ("strategy", "candidates", "bench")

FIXED_BY_A_RUN = (
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
    *TASKS,
    *FIXING,
)


_NAMES = {
    "agent_args": ("-A", "--agent-arg"),
    "domains": ("--domain",),
    "from_run": ("--from",),
    "kinds": ("--kind",),
    "tool_method": ("--method",),
    "model_roles": ("--model-role",),
    "run_name": ("--name",),
    "tags": ("--tag",),
    "topics": ("--topic",),
}
_SEVERAL = (*TABLES, *LISTS)
_METAVARS = {  # unless it is the name in the singular
    name: metavar
    for metavar, names in {
        "ACTIONS": "width",
        "ADDRESS": "ray_address",
        "BOUND": "difficulty",
        "DIR": "data prompts report_dir workspace",
        "DOLLARS": "budget_usd usd_per_tool",
        "DURATION": "budget_time time_per_request time_per_tool",
        "FILE": "cases descriptions context groups out plans prices prompt",
        "GATE": "fail_on",
        "ID": "case",
        "KEY=VALUE": "agent_args",
        "KIND": "report",
        "N-M": "actions",
        "NAME": "request run_name topics",
        "PATH": "allow_read python",
        "PATH|URL": "store",
        "RATE": "confidence",
        "ROLE=MODEL": "model_roles",
        "RUN": "baseline from_run resume",
        "RUN|FILE": "beside",
        "SPEC": "tools",
        "T": "temperature",
        "TOOL": "only",
        "URL": "model_base_url otlp",
    }.items()
    for name in names.split()
}


def settings_options(
    *names: str,
    usual: Mapping[str, Any] = MappingProxyType({}),
    preset: Mapping[str, Any] = MappingProxyType({}),
    about: Mapping[str, str] = MappingProxyType({}),
    choices: Mapping[str, str] = MappingProxyType({}),
    shared_agent: SharedAgent = "any",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options for these settings, and the joined `Settings` as its first argument.

    `usual` are the command's own defaults, `preset` values that only the command line can change. `about`
    replaces help texts, `choices` limits the values of a setting. `shared_agent` says whether an agent that a
    file or the environment names is used.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def wrapper(**given: Any) -> Any:
            layer = {
                name: _parse(name, given.pop(name)) for name in names if given.get(name) not in (None, ())
            }
            _refuse_contradictions(layer)
            rest = {name: value for name, value in given.items() if name not in names}
            settings = load_settings(Path.cwd(), usual=usual).overlay(preset)
            if "resume" in layer:  # it may get new budgets
                settings = settings.overlay(dict.fromkeys(MEANS))
            return command(join(settings, layer, shared_agent), **rest)

        decorated: Callable[..., Any] = wrapper
        for name in reversed(names):
            decorated = _option(name, {**usual, **preset}, about.get(name), choices.get(name))(decorated)
        return decorated

    return decorate


def run_argument(name: str, required: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.argument(name, required=required, shell_complete=complete_runs)


run_arguments = click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_runs
)


def flag(name: str) -> str:
    return _NAMES.get(name, (f"--{name.replace('_', '-')}",))[-1]


def typed(wanted: Callable[[str], bool]) -> list[str]:
    """The flags that were typed, of those parameters of the command that are `wanted`."""
    context = click.get_current_context()
    return [
        parameter.opts[-1]
        for parameter in context.command.params
        if wanted(parameter.name or "")
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]


def _option(
    name: str, usual: Mapping[str, Any], about: str | None, choices: str | None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    default = usual.get(name, getattr(Settings(), name))
    unset = default is None or isinstance(default, bool) or default in ("", (), {})
    shown = "" if unset else f"  [default: {_in_words(name, default)}]"
    described = f"{about or help_text(name)}{shown}"
    if isinstance(field_type(name), msgspec.inspect.BoolType):
        both = f"{flag(name)}/--no-{flag(name)[2:]}"
        return click.option(both, name, cls=Switch, on=default, default=None, help=described)
    declared = _NAMES.get(name, (flag(name),))
    metavar = choices or _metavar(name)
    return click.option(
        *declared,
        name,
        multiple=name in _SEVERAL,
        default=None,
        help=described,
        metavar=metavar,
        shell_complete=_completion(name, metavar),
    )


def _completion(name: str, metavar: str) -> Complete | None:
    if name == "agent":
        return complete_agents
    match metavar:
        case "FILE" | "PATH" | "PATH|URL":
            return from_paths("file")
        case "DIR":
            return from_paths("dir")
        case "RUN" | "RUN|FILE":
            return complete_runs
        case _:
            values = metavar.split("|") if "|" in metavar else listed_choices(name) if name in LISTS else ()
            return from_values(values) if values else None


def _in_words(name: str, default: Any) -> str:
    if isinstance(default, float):
        return f"{default:g}{'s' if _metavar(name) == 'DURATION' else ''}"
    return ", ".join(default) if name in LISTS else str(default)


def _metavar(name: str) -> str:
    match field_type(name):
        case msgspec.inspect.LiteralType(values=values):
            return "|".join(map(str, values))
        case msgspec.inspect.IntType():
            return "N"
        case msgspec.inspect.FloatType(le=high) if name not in _METAVARS:
            return "RATE" if high == 1 else "SECONDS"
        case _:
            return _METAVARS.get(name, name.removesuffix("s").upper())


def _refuse_contradictions(layer: dict[str, Any]) -> None:
    """Refuse flags that would be ignored next to another one."""
    for chief, others in (("resume", (*FIXED_BY_A_RUN, "run_name", "tags", "dry_run")), ("cases", SYNTHESIS)):
        beside = [name for name in dict.fromkeys(others) if name in layer and name not in (chief, *MEANS)]
        vain = [flag(name) for name in beside]
        if chief in layer and vain:
            hint = f"omit {vain[0] if len(vain) == 1 else 'them'}"
            raise UsageError(f"{' and '.join(vain)} can't be combined with {flag(chief)}", hint)


def _parse(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    items = list(value) if isinstance(value, tuple) else [value]
    if "" in items:
        raise UsageError("is empty", "give it a value or omit it", where=flag(name))
    return parse_text(name, items, items[0], flag(name))


def refuse_curves_in_json(settings: OutputSettings) -> None:
    """Refuse several curves with --json, which prints one object."""
    if settings.json:
        refuse_curves_beside("--json", "misstep show RUN --json prints each curve separately")


def refuse_curves_beside(
    what: str, hint: str = "only a plan capability run or a curve file can be shown beside others"
) -> None:
    """Refuse options for other curves, but only if typed: a settings file is shared by all commands."""
    if vain := typed(lambda name: name in CURVES_BESIDE):
        raise UsageError(f"{' and '.join(vain)} can't be combined with {what}", hint)


one_shot_option = click.option(
    "--one-shot",
    is_flag=True,
    help="Put all calls in one turn; skips cases whose later calls depend on earlier results.",
)
