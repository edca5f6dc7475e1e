"""Files that the settings name, to be found again from any folder."""

import os
from collections.abc import Iterable

from misstep.core.settings import Settings
from misstep.errors import UsageError

FILES = ("context", "descriptions", "groups", "prices", "prompt")  # settings of tests of tools
FOLDERS = ("data", "prompts", "workspace")


def lasting_path(path: str) -> str:
    """The path of a file that can be read again, from anywhere; empty where there is none."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError("is not a regular file", "a run reads it more than once: save it first", where=path)
    return os.path.abspath(path) if path else ""


def lasting_tools(spec: str) -> str:
    """The same tools, to be found from any folder if they are in a file."""
    if not spec:
        return ""
    from misstep.adapters.toolset.spec import file_of

    path = file_of(spec)
    return os.path.abspath(path) + spec.removeprefix(path) if path else spec


def lasting_specs(specs: Iterable[str]) -> tuple[str, ...]:
    """Specs of tools that are to be called, each once, to be found from any folder."""
    from misstep.tool_host.sandbox.places import anchored

    return tuple(dict.fromkeys(anchored(spec) for spec in specs))


def lasting_places(settings: Settings) -> Settings:
    """Settings of tests of tools that mean the same in any folder."""
    workspace = settings.workspace
    if workspace and not os.path.isdir(workspace):
        hint = "name one of which the tools get a copy"
        raise UsageError("is not a folder", hint, where=f"--workspace {workspace}")
    files = {name: lasting_path(getattr(settings, name)) for name in FILES}
    folders = {name: os.path.abspath(path) if (path := getattr(settings, name)) else "" for name in FOLDERS}
    allowed = [os.path.abspath(os.path.expanduser(path)) for path in settings.allow_read]
    return settings.overlay({**files, **folders, "allow_read": tuple(allowed)})
