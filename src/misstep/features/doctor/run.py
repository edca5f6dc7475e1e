"""Checks the installation, the sandbox, keys, settings and the store, without importing any framework."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from misstep.core.settings import Settings
from misstep.errors import MisstepError, NoStoreYet, UsageError, install_command
from misstep.models.providers import load_providers
from misstep.rendering.terminal import counted
from misstep.runs.setup.configuration import PREFIX, find_settings_file, load_settings

State: TypeAlias = Literal["ok", "missing", "broken"]

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[[^\]]*\])?\s*([^;]*?)\s*;\s*extra\s*==\s*["']([\w.-]+)["']""")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")
INTERNAL = ("test",)  # extras for people who work on misstep
PURPOSES = {
    "adk": "agents of Google ADK",
    "ag2": "agents of AG2",
    "agent-framework": "agents of Microsoft Agent Framework",
    "anthropic": "models of Anthropic",
    "autogen": "agents of AutoGen",
    "crewai": "agents of CrewAI",
    "forge": "LangChain's tools in bench forge",
    "fuzz": "tool fuzz, tool lint",
    "inspect": "Inspect logs",
    "langchain": "agents of LangChain and LangGraph",
    "llama-index": "agents of LlamaIndex",
    "local": "the embedded model",
    "mcp": "MCP clients and servers",
    "openai": "models of OpenAI and compatible servers",
    "openai-agents": "agents of the OpenAI Agents SDK",
    "otel": "--otlp",
    "parquet": "export --format parquet",
    "postgresql": "stores in PostgreSQL",
    "proxy": "--record-proxy",
    "pydantic-ai": "agents of Pydantic AI",
    "ray": "--on ray",
    "smolagents": "agents of smolagents",
    "web": "serve, label --web",
    "z3": "plan check --verify",
}
PROGRAMS = {"git": "bench forge", "uvx": "MCP servers in Python", "npx": "MCP servers in JavaScript"}


class HealthCheck(msgspec.Struct, frozen=True):
    """One thing that was looked at. Only what is `broken` has to be fixed; `fix` says how."""

    section: str
    name: str
    state: State
    detail: str = ""
    fix: str = ""


def examine(folder: Path, environment: Mapping[str, str] = os.environ) -> Iterator[HealthCheck]:
    """All checks, in the order in which they are shown. Nothing is written, and no key is read."""
    yield from _installation()
    yield from _extras()
    yield _sandbox()
    yield from _models(environment)
    settings, checks = _settings(folder, environment)
    yield from checks
    yield _store(settings)
    for program, purpose in PROGRAMS.items():
        path = shutil.which(program)
        yield HealthCheck("programs", program, "ok" if path else "missing", path or f"for {purpose}")


def _installation() -> Iterator[HealthCheck]:
    try:
        own, origin = version("misstep"), install_command("").removeprefix("pip install ")
    except PackageNotFoundError:
        own, origin = "unknown", "not installed as a package"
    where = "" if origin == "misstep" else f", from {origin.removeprefix('-e ')}"
    yield HealthCheck("misstep", "version", "ok", f"{own}{where}")
    yield HealthCheck("misstep", "Python", "ok", f"{platform.python_version()}, {sys.executable}")
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield HealthCheck("misstep", "platform", "ok", machine)


def _extras() -> Iterator[HealthCheck]:
    for extra, needs in sorted(_requirements().items()):
        have = {package: _version(package) for package in needs}
        lacking = [package for package in needs if not have[package]]
        old = [
            f"{package} {have[package]}, needs {bounds}"
            for package, bounds in needs.items()
            if have[package] and not _fits(have[package], bounds)
        ]
        detail = ", ".join(f"{package} {number}" for package, number in have.items())
        if lacking or old:
            told = "; ".join([f"for {PURPOSES.get(extra, extra)}", *([", ".join(old)] if old else [])])
            yield HealthCheck("extras", extra, "missing", told, install_command(extra))
        else:
            yield HealthCheck("extras", extra, "ok", detail)


def _requirements() -> dict[str, dict[str, str]]:
    """The packages of each extra, with the versions that they have to have."""
    found = dict[str, dict[str, str]]()
    try:
        stated = distribution("misstep").requires or []
    except PackageNotFoundError:
        return {}
    for line in stated:
        match = _REQUIREMENT.fullmatch(line.strip())
        if match and match[3] not in INTERNAL:
            found.setdefault(match[3], {})[match[1]] = match[2]
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _fits(number: str, bounds: str) -> bool:
    """Whether a version is within simple bounds, such as `>=2.3,<3`."""
    own = _parts(number)
    limits = [(sign, _parts(limit)) for sign, limit in _BOUND.findall(bounds)]
    return all(own >= limit if sign == ">=" else own < limit for sign, limit in limits)


def _parts(number: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", number)
    return tuple(map(int, leading[0].split("."))) if leading else ()


def _sandbox() -> HealthCheck:
    from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap
    from misstep.tool_host.sandbox.sandbox import INSTALL, WITHOUT

    problem = find_bubblewrap().problem if sys.platform == "linux" else "it runs on Linux only"
    if not problem:
        return HealthCheck("sandbox", "bubblewrap", "ok", "tried with a program")
    ways = [INSTALL] if "not installed" in problem else []
    if "denied" in problem or "not permitted" in problem:  # Ubuntu 24.04 and later, containers
        ways.append("allow it: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    return HealthCheck("sandbox", "bubblewrap", "missing", problem, "; ".join([*ways, WITHOUT]))


def _models(environment: Mapping[str, str]) -> Iterator[HealthCheck]:
    for provider, known in load_providers().items():
        if known.key:
            state: State = "ok" if environment.get(known.key) else "missing"
            said = "is set" if state == "ok" else f"for --model {provider}/…"
            yield HealthCheck("keys", known.key, state, said)
    yield _embedded_model()


def _embedded_model() -> HealthCheck:
    from misstep.models.local.model import locate_adapter, locate_weights

    try:
        locate_adapter()
        locate_weights()
        return HealthCheck("models", "local", "ok", "weights and adapter are installed")
    except MisstepError as error:
        return HealthCheck("models", "local", "missing", error.message, error.hints[0] if error.hints else "")


def _settings(folder: Path, environment: Mapping[str, str]) -> tuple[Settings, list[HealthCheck]]:
    """The settings in force, or the defaults if they are not valid, and what is to be said about them."""
    names = sorted(name for name, value in environment.items() if name.startswith(PREFIX) and value)
    variables = HealthCheck("settings", "variables", "ok", ", ".join(names) or f"no {PREFIX}… is set")
    try:
        name, _, values = find_settings_file(folder)
        settings = load_settings(folder, {})
    except UsageError as error:
        return Settings(), [_broken("settings", "file", error), variables]
    told = f"{name}: {len(values)} set" if name else "none: defaults are used"
    file = HealthCheck("settings", "file", "ok", told)
    try:
        return load_settings(folder, environment), [file, variables]
    except UsageError as error:
        return settings, [file, _broken("settings", "variables", error)]


def _store(settings: Settings) -> HealthCheck:
    """Open the store for reading, if there is one; it is not created."""
    from misstep.store.location import shown
    from misstep.store.runs import DamagedRun, Store

    try:
        with Store(settings.store) as store:
            runs = store.survey_runs()
    except NoStoreYet:
        return HealthCheck("store", shown(settings.store), "ok", "none yet: the first run creates it")
    except MisstepError as error:
        return _broken("store", shown(settings.store), error)
    if damaged := [run for run in runs if isinstance(run, DamagedRun)]:
        told = f"{len(damaged)} of {len(runs)} runs can't be read: {damaged[0].id}, {damaged[0].why}"
        return HealthCheck("store", shown(settings.store), "broken", told, "misstep runs lists them")
    return HealthCheck("store", shown(settings.store), "ok", counted(len(runs), "run"))


def _broken(section: str, name: str, error: MisstepError) -> HealthCheck:
    where = f"{error.where}: " if error.where not in ("", name) else ""
    return HealthCheck(section, name, "broken", f"{where}{error.message}", "; ".join(error.hints))
