"""Files that the settings name, to be found again from any folder."""

import os

from misstep.errors import UsageError


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
