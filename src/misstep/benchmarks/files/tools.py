"""Simple file tools that stay in the folder they start in.

Agents see the docstrings of the public functions.
"""

import fnmatch
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from misstep.benchmarks.files.shell import require_text, run_command

MOST_READ = 1 << 20  # bytes
MOST_FOUND = 1_000  # paths
DEEPEST = 200  # parts of a path


def list_folder(folder: str = ".") -> list[str]:
    """List what is directly in a folder, sorted by name. Folders end in "/".

    Args:
        folder: Path of the folder, relative to the current one; "." is the current folder itself.
    """
    place = _inside(folder)
    if not place.is_dir():
        raise NotADirectoryError(f"'{folder}' is not a folder")
    with os.scandir(place) as entries:
        found = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries]
    return sorted(found)


def find_files(pattern: str, folder: str = ".") -> list[str]:
    """Find files by name in a folder and all folders below it, sorted by path. Folders are not listed.

    Args:
        pattern: What the file's name has to match, such as "*.pdf" or "report*"; upper and lower case differ.
        folder: Path of the folder to search, relative to the current one; "." is the current folder itself.

    Returns:
        Paths relative to the current folder.
    """
    require_text(pattern=pattern)
    place = _inside(folder)
    if not place.is_dir():
        raise NotADirectoryError(f"'{folder}' is not a folder")
    found = sorted(path for path in _walk(place) if fnmatch.fnmatchcase(os.path.basename(path), pattern))
    if len(found) > MOST_FOUND:
        many = f"{len(found)} files match '{pattern}', more than {MOST_FOUND}"
        raise ValueError(f"{many}; search a smaller folder")
    return found


def read_file(path: str) -> str:
    """Read a text file as a whole.

    Args:
        path: Path of the file, relative to the current folder.
    """
    place = _file(path)
    if place.stat().st_size > MOST_READ:
        raise ValueError(f"'{path}' is larger than {MOST_READ} bytes")
    return place.read_bytes().decode("utf-8", "backslashreplace")


def file_size(path: str) -> int:
    """Say how many bytes a file has.

    Args:
        path: Path of the file, relative to the current folder.
    """
    return _file(path).stat().st_size


def write_file(path: str, text: str) -> str:
    """Write a text file, exactly as given. A file of that name is replaced; missing folders are made.

    Args:
        path: Path of the file, relative to the current folder.
        text: The whole content; no line break is added at its end.
    """
    require_text(text=text)
    place = _inside(path)
    if place.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder")
    data = text.encode()  # first, because not every text can be encoded
    _make(place.parent, path)
    place.write_bytes(data)
    return f"wrote {len(data)} bytes to '{path}'"


def make_folder(path: str) -> str:
    """Make a folder, with the folders above it that are missing. One that is there already stays as it is.

    Args:
        path: Path of the new folder, relative to the current one.
    """
    _make(_inside(path), path)
    return f"made the folder '{path}'"


def move(source: str, destination: str) -> str:
    """Move or rename a file or a folder. Missing folders on the way to the destination are made.

    Args:
        source: Path of what is to be moved, relative to the current folder.
        destination: The full new path, its new name included. Nothing may be there yet.
    """
    old, new = _pair(source, destination)
    shutil.move(old, new)
    return f"moved '{source}' to '{destination}'"


def copy(source: str, destination: str) -> str:
    """Copy a file, or a folder with everything in it. Missing folders on the way are made.

    Args:
        source: Path of what is to be copied, relative to the current folder.
        destination: The full path of the copy, its name included. Nothing may be there yet.
    """
    old, new = _pair(source, destination)
    if old.is_dir():
        shutil.copytree(old, new, symlinks=True)
    else:
        shutil.copy2(old, new, follow_symlinks=False)
    return f"copied '{source}' to '{destination}'"


def delete(path: str) -> str:
    """Delete a file, or a folder with everything in it. This can't be undone.

    Args:
        path: Path of the file or folder, relative to the current folder.
    """
    place = _there(path)
    if place == Path.cwd():
        raise PermissionError("the current folder itself can't be deleted")
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()
    return f"deleted '{path}'"


TOOLS: list[Callable[..., Any]] = [
    list_folder,
    find_files,
    read_file,
    file_size,
    write_file,
    make_folder,
    move,
    copy,
    delete,
]
SHELL: list[Callable[..., Any]] = [run_command]


def _inside(path: str) -> Path:
    """Resolve a path, following links; one that leads out of the current folder is refused."""
    require_text(path=path)
    if "\0" in path or path.encode("utf-8", "replace").decode() != path:
        raise ValueError(f"{path!r} is not a path: it contains characters that no file name can")
    _require_shallow(len(Path(path).parts), path)
    root = Path.cwd().resolve()
    named = root / path
    try:
        above = named.parent.resolve() if named.name not in ("", "..") else named.resolve()
    except (OSError, RuntimeError) as error:
        raise ValueError(f"'{path}' leads through a loop of links") from error
    place = above / named.name if named.name not in ("", "..") else above
    if not place.is_relative_to(root) or (place.is_symlink() and not _leads_inside(place, root)):
        raise PermissionError(f"'{path}' is outside the current folder")
    return place


def _leads_inside(link: Path, root: Path) -> bool:
    try:
        return link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _there(path: str) -> Path:
    place = _inside(path)
    if not os.path.lexists(place):
        raise FileNotFoundError(f"there is no '{path}'")
    return place


def _file(path: str) -> Path:
    place = _there(path)
    if not place.is_file():
        raise IsADirectoryError(f"'{path}' is not a file")
    return place


def _pair(source: str, destination: str) -> tuple[Path, Path]:
    old, new = _there(source), _inside(destination)
    if os.path.lexists(new):
        raise FileExistsError(f"there is something at '{destination}' already")
    if new.is_relative_to(old):
        raise ValueError(f"'{destination}' is inside '{source}'")
    _require_shallow(len(new.relative_to(Path.cwd().resolve()).parts) + _height(old), destination)
    _make(new.parent, destination)
    return old, new


def _make(folder: Path, path: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(f"there is a file in the way of '{path}'") from error


def _require_shallow(parts: int, path: str) -> None:
    """Prevent folders nested so deep that they can't be listed, copied or deleted any more."""
    if parts > DEEPEST:
        shown = path if len(path) <= 100 else f"{path[:100]}…"
        raise ValueError(f"'{shown}' is more than {DEEPEST} folders deep: use a shorter path")


def _height(place: Path) -> int:
    """How many parts the longest path below this one has."""
    found = os.walk(place)
    depths = (len(Path(folder).parts) + bool(inner or names) for folder, inner, names in found)
    return max(depths, default=len(place.parts)) - len(place.parts)


def _walk(place: Path) -> Iterator[str]:
    root = Path.cwd().resolve()
    for folder, _, names in os.walk(place):
        for name in names:
            yield Path(folder, name).relative_to(root).as_posix()
