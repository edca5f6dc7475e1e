"""Calls Composio's local actions, without its service."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(action: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    with suppress(ImportError):  # objects that only look like actions don't need them
        shells, files = _shells_and_files()
        action._shells = lambda: shells
        action._filemanagers = lambda: files

    def invoke(arguments: dict[str, Any]) -> Any:
        request = action.request.parse(arguments)
        response = loop.settle(action.execute(request=request, metadata={}))
        dump = getattr(response, "model_dump", None)
        return {"data": dump(mode="json")} if callable(dump) else response

    return invoke


@cache
def _shells_and_files() -> tuple[Any, Any]:
    """The local shells and files that all actions share, each created on demand."""
    from composio.tools.env.filemanager.manager import FileManager
    from composio.tools.env.host.shell import HostShell
    from composio.tools.env.host.workspace import FileManagers, Shells

    return Shells(lambda: HostShell(environment={})), FileManagers(lambda: FileManager(working_dir=None))
