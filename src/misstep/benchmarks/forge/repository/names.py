"""Which names git takes for refs, and which paths for files."""

import re

HEADS = "refs/heads/"
KEPT = "refs/pull/"  # nobody may make refs there
DEEPEST = 200  # parts of a path
LONGEST = 255  # bytes of a part of a path, as file systems have it
# Characters that file systems of Apple pass over in names.
_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
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
    return name != "" and not misleads(HEADS + name) and is_ref(HEADS + name)


def misleads(ref: str) -> bool:
    """Whether a branch of that name would be taken for an option, or for what is checked out."""
    return ref in (f"{HEADS}HEAD", f"{HEADS}@") or ref.startswith(f"{HEADS}-")


def is_path(path: str) -> bool:
    """Whether a file may stand there: relative, not too deep, no empty parts, dots, or git's own folder."""
    parts = path.split("/")
    return (
        "\0" not in path
        and len(parts) <= DEEPEST
        and _is_text(path)
        and all([part not in ("", ".", "..") and not _is_gits_own(part) for part in parts])
        and all([len(part.encode()) <= LONGEST for part in parts])
    )


def _is_gits_own(part: str) -> bool:
    """Whether some file system would take it for git's own folder, by the rules of git's own guards."""
    on_ntfs = [piece.partition(":")[0].rstrip(" .").lower() for piece in part.split("\\")]
    on_hfs = part.translate(_UNSEEN).lower()
    return on_hfs == ".git" or any(piece in (".git", "git~1") for piece in on_ntfs)


def _is_text(name: str) -> bool:
    """Whether it can be written as UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
