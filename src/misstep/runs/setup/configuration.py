"""Reads settings from files and the environment, and lists settings that belong together."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from misstep.core.settings import BUDGETS, TABLES, Settings, setting_names
from misstep.core.settings.reading import FIELDS, LISTS, parse_setting
from misstep.errors import UsageError, did_you_mean

PREFIX = "MISSTEP_"


def load_settings(
    directory: Path,
    environment: Mapping[str, str] = os.environ,
    usual: Mapping[str, Any] = MappingProxyType({}),
) -> Settings:
    """Defaults, those of the command, then the project's file, then the environment; later ones win."""
    own = Settings().overlay(usual)
    return own.overlay(_from_files(directory)).overlay(_from_environment(environment))


# Whether a command uses an agent that only a file or the environment names: any, none but simulated ones
# (which can't call real tools), or none at all.
SharedAgent: TypeAlias = Literal["any", "real", "none"]
OF_AGENT = ("agent", "agent_args", "prompt", "record_proxy")
WITH_AGENT = ("tool_method", "skip_sanity")  # errors in `tool fuzz` unless there is an agent


def join(shared: Settings, given: Mapping[str, Any], uses: SharedAgent = "any") -> Settings:
    """Join settings of files and environment, which all commands share, with those given for one command.

    Settings that describe the shared agent are ignored if that agent is not used, or another one is given.
    """
    ignored = uses == "none" or (uses == "real" and shared.agent.startswith("sim:"))
    agent = given.get("agent", "" if ignored else shared.agent)
    vain: Sequence[str] = OF_AGENT if shared.agent and agent != shared.agent else ()
    if uses == "none" and not agent:
        vain = (*OF_AGENT, *WITH_AGENT)
    return shared.overlay({name: getattr(Settings(), name) for name in vain}).overlay(given)


def split_pairs(items: list[str], where: str) -> dict[str, str]:
    pairs = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise UsageError(f"{item!r} is not a parameter", "expected key=value", where=where)
        pairs[key.strip()] = value
    return pairs


def _from_files(directory: Path) -> dict[str, Any]:
    name, text, values = find_settings_file(directory)
    return {key: _from_file(key, value, _line(text, name, key)) for key, value in values.items()}


def find_settings_file(directory: Path) -> tuple[str, str, dict[str, Any]]:
    """The name, the text and the values of the file with a project's settings; all are empty without one."""
    for name, table in (("misstep.toml", ()), ("pyproject.toml", ("tool", "misstep"))):
        try:
            text = (directory / name).read_text(encoding="utf-8-sig")
            values: Any = tomllib.loads(text)
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("can't be read", str(error), where=name) from error
        except (ValueError, RecursionError) as error:
            raise UsageError("is not valid TOML", str(error), where=name) from error
        for key in table:
            values = values.get(key, {}) if isinstance(values, dict) else {}
        if not isinstance(values, dict):
            raise UsageError("[tool.misstep] is not a table", where=name)
        if values or name == "misstep.toml":
            return name, text, values
    return "", "", {}


def _from_file(key: str, value: object, where: str) -> Any:
    """A setting from a project's file, which may come from the same place as a store."""
    if key == "trust_store":
        hint = (
            f"use --trust-store or {PREFIX}TRUST_STORE: a project could contain both the file and the store"
        )
        raise UsageError("'trust_store' can't be set in a project file", hint, where=where)
    return parse_setting(key, value, where)


def _line(text: str, name: str, key: str) -> str:
    """The line of a key; in pyproject.toml only in our own table."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip() == "[tool.misstep]"), 0)
    for number, line in enumerate(lines[start:], start + 1):
        if re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return f"{name}:{number}"
    return name


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or not text:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in FIELDS:
            known = [PREFIX + field.upper() for field in FIELDS]
            raise UsageError("is not a misstep variable", did_you_mean(variable, known), where=variable)
        values[name] = parse_text(name, [text] if "," not in text else text.split(","), text, variable)
    return values


def parse_text(name: str, items: list[str], text: str, where: str) -> Any:
    """A setting written as text: `items` if it takes several values, `text` if it takes one."""
    if name in LISTS:
        return parse_setting(name, ",".join(items), where)
    if name in TABLES:
        return parse_setting(name, split_pairs(items, where), where)
    return parse_setting(name, text, where, lax=True)


SYNTHESIS = setting_names(
    "actions family timed attempts distractors tools difficulty count seed topics part sentences iterations "
    "redundancy group relative request exhaustive"
)

_MODEL = setting_names("agent agent_args model model_base_url model_roles temperature prompt")

AGENTS = (*_MODEL, *setting_names("retries requests requests_per_minute cache prices python record_proxy"))

LIMITS = ("jobs", "timeout", "max_steps", "parallel", "messages")

# Sandbox and other settings about tools.
SANDBOX_OPTIONS = ("memory", "sandbox", "allow_network", "allow_read", "workspace", "descriptions")

FUZZING = ("only", "time_per_tool", "calls_per_tool", "from_run", *SANDBOX_OPTIONS)

# How tools are called, and how often at most.
CALLING = ("python", "seed", "jobs", *BUDGETS)

# The agent that tries the tools, and its limits.
TRYING = (
    *_MODEL,
    *setting_names(
        "prompts retries requests requests_per_minute cache prices max_steps time_per_request "
        "tokens_per_tool usd_per_tool"
    ),
)

# Their defaults in tests through an agent.
USUALLY_TRYING = {"timeout": 10.0, "jobs": 2}
