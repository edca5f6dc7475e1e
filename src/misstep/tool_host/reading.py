"""Tools that are looked at and not called, in a process of its own all the same: loading them runs code."""

import os

from msgspec.structs import replace

from misstep.adapters.toolset.spec import file_of
from misstep.tool_host.conditions import Conditions
from misstep.tool_host.protocol import Loaded
from misstep.tool_host.sandbox.places import anchored
from misstep.tool_host.sandbox.sandbox import sandbox_for
from misstep.tool_host.sandbox_process import SandboxProcess

PLACES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def read_apart(spec: str, conditions: Conditions) -> Loaded:
    """What the tools that a spec means say about themselves. Raises a `UsageError` if it means none."""
    whole = anchored(spec)
    sandbox = sandbox_for(whole, conditions)
    sandbox.prepare()
    try:
        housing = SandboxProcess(whole, conditions, sandbox, read=True)
        try:
            loaded = housing.load()
        finally:
            housing.kill()
    finally:
        sandbox.remove()
    tools = [replace(tool, where=tool.where.replace(file_of(whole), file_of(spec))) for tool in loaded.tools]
    return replace(loaded, tools=tuple(tools)) if file_of(spec) else loaded


def whole_environment(at_home: bool) -> dict[str, str]:
    """All variables that we have; those that say where files are kept only for what is `at_home` here."""
    return {name: value for name, value in os.environ.items() if at_home or name not in PLACES}
