"""Which names git takes for refs, and which paths for files."""

import re

HEADS = "refs/heads/"
KEPT = "refs/pull/"  # nobody may make refs there
DEEPEST = 200  # parts of a path
LONGEST = 255  # bytes of a part of a path, as file systems have it
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|\.$|/$|^/|^\.")


def is_ref(name: str) -> bool:
    """Whether it is a whole name such as refs/heads/main that git would take."""
    parts = name.split("/")
    return (
        len(parts) >= 3
        and parts[0] == "refs"
        and not _FORBIDDEN.search(name)
        and all([len(part.encode("utf-8", "replace")) <= LONGEST - len(".lock") for part in parts])
        and _is_text(name)
    )


def is_branch(name: str) -> bool:
    return name not in ("", "@", "HEAD") and not name.startswith("-") and is_ref(HEADS + name)


def is_path(path: str) -> bool:
    """Whether a file may stand there: relative, not too deep, no empty parts, dots, or git's own folder."""
    parts = path.split("/")
    return (
        "\0" not in path
        and len(parts) <= DEEPEST
        and _is_text(path)
        and all([part not in ("", ".", "..") and part.lower() != ".git" for part in parts])
        and all([len(part.encode()) <= LONGEST for part in parts])
    )


def _is_text(name: str) -> bool:
    """Whether it can be written as UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
