"""The exceptions of misstep, by who has to act."""

from collections.abc import Iterable
from difflib import get_close_matches


class MisstepError(Exception):
    """An error with a place, a message and what to do about it, shown without a traceback."""

    exit_code = 2

    def __init__(self, message: str, *hints: str, where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hint for hint in hints if hint)
        self.where = where

    def __str__(self) -> str:
        head = f"{self.where}  {self.message}" if self.where else self.message
        return "\n".join([head, *(f"  {hint}" for hint in self.hints)])

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback."""
        return str(self).splitlines()


class UsageError(MisstepError):
    """The user's input or configuration is wrong."""


class MissingExtra(MisstepError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, what: str, extra: str, *hints: str) -> None:
        super().__init__(f"{what} is not installed", f"install it with {install_command(extra)}", *hints)


def install_command(extra: str) -> str:
    """The command that adds extras to misstep, from where misstep itself was installed."""
    # Imported here: help and most errors don't need them.
    import json
    import os
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    editable, extras = "", f"[{extra}]" if extra else ""
    requirement = f"misstep{extras}"
    try:
        origin = json.loads(distribution("misstep").read_text("direct_url.json") or "{}")
        url, vcs = origin.get("url", ""), origin.get("vcs_info")
        path = unquote(urlsplit(url).path)
        if vcs:
            requirement += f" @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
        elif url.startswith("file:") and os.path.exists(path):
            editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
            requirement = f"{path}{extras}"
            adapter = os.path.join(path, "adapter")
            if extra == "local" and os.path.isdir(adapter):  # a package of its own, not found by its name
                editable = f"{shlex.quote(adapter)} {editable}"
    except (PackageNotFoundError, OSError, ValueError, AttributeError, KeyError):
        pass  # unknown or unreadable: by its name
    return f"pip install {editable}{shlex.quote(requirement)}"


class StoreError(MisstepError):
    """The store can't be opened, read or written."""


class StoreGone(StoreError):
    """The store was removed."""


class NoStoreYet(StoreError):
    """There is no store yet."""

    def __init__(self, where: str) -> None:
        super().__init__(
            "no store here yet",
            "the first run creates it, e.g. misstep plan test or misstep tool fuzz",
            where=where,
        )


class BudgetExceeded(MisstepError):
    """The budget of a run is exhausted."""

    exit_code = 3


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A hint for an unknown name, or an empty string if no known name is similar."""
    close = get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


class Interrupted(MisstepError):
    """The user stopped a run."""

    exit_code = 130


class InternalError(MisstepError):
    """An internal contradiction: a bug in misstep."""

    exit_code = 70
