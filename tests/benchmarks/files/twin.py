"""Operations carried out on a real folder, as somebody at a terminal would: the slow twin of the executor."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from misstep.benchmarks.files import operations as ops
from misstep.benchmarks.files.operations import Selection


def carry_out(operations: Sequence[ops.Operation], root: Path) -> None:
    for operation in operations:
        _DOERS[type(operation)](operation, root)


def select(what: Selection, root: Path) -> list[Path]:
    """Sorted; every file is looked at."""
    start = root / what.folder if what.folder else root
    found = []
    for folder, _, names in os.walk(start):
        if what.deep or folder == str(start):
            found += [Path(folder, name) for name in names]
    return sorted(path for path in found if _fits(what, path))


def _fits(what: Selection, path: Path) -> bool:
    pattern = f"(?=.*{re.escape(what.word)})(?=.*{re.escape(what.suffix)}$){re.escape(what.prefix)}"
    if not re.match(pattern, path.name):
        return False
    if what.larger is not None and os.path.getsize(path) <= what.larger:
        return False
    return not what.line or f"\n{what.line}\n" in f"\n{path.read_text()}\n"


def _move(operation: ops.Move, root: Path) -> None:
    for path in select(operation.what, root):
        target = _goal(path, operation.what, operation.to, root)
        if target != path:
            target.parent.mkdir(parents=True, exist_ok=True)
            assert not target.exists()
            os.rename(path, target)


def _copy(operation: ops.Copy, root: Path) -> None:
    if operation.to == ops.Beneath(getattr(operation.to, "folder", "")) and operation.what == Selection(
        operation.what.folder
    ):
        shutil.copytree(root / operation.what.folder, root / operation.to.folder)  # a whole folder
        return
    for path in select(operation.what, root):
        target = _goal(path, operation.what, operation.to, root)
        target.parent.mkdir(parents=True, exist_ok=True)
        assert not target.exists()
        shutil.copyfile(path, target)


def _goal(path: Path, what: Selection, to: ops.Target, root: Path) -> Path:
    if isinstance(to, ops.Into):
        return root / to.folder / path.name
    if isinstance(to, ops.Exactly):
        return root / to.path
    if isinstance(to, ops.ByType):
        return root / to.folder / path.suffix[1:] / path.name
    if isinstance(to, ops.ByDate):
        return _by_date(path, to, root)
    if isinstance(to, ops.Replaced):
        return path.with_name(to.new.join(path.name.split(to.old)))
    if isinstance(to, ops.Prefixed):
        return path.with_name(f"{to.text}{path.name}")
    if isinstance(to, ops.Ending):
        return path.with_name(re.sub(re.escape(to.old) + "$", to.new, path.name))
    assert isinstance(to, ops.Lowered)
    return path.with_name("".join(letter.lower() for letter in path.name))


def _by_date(path: Path, to: ops.ByDate, root: Path) -> Path:
    if to.source == "name":
        date = path.name[:10] if re.fullmatch(r"\d\d\d\d-\d\d-\d\d", path.name[:10]) else ""
    else:
        dates = [line[6:16] for line in path.read_text().splitlines() if line[:6] == "Date: "]
        date = dates[0] if dates else ""
    if not date:
        return path
    year, month, _ = date.split("-")
    return (
        root
        / to.folder
        / {4: year, 7: to.layout.replace("2024", year).replace("05", month)}[len(to.layout)]
        / path.name
    )


def _delete(operation: ops.Delete, root: Path) -> None:
    for path in select(operation.what, root):
        path.unlink()


def _remove(operation: ops.Remove, root: Path) -> None:
    shutil.rmtree(root / operation.folder)


def _prune(operation: ops.Prune, root: Path) -> None:
    command = [
        "find",
        str(root / operation.folder),
        "-mindepth",
        "1",
        "-depth",
        "-type",
        "d",
        "-empty",
        "-delete",
    ]
    subprocess.run(command, check=True)


def _make(operation: ops.MakeFolder, root: Path) -> None:
    (root / operation.path).mkdir(parents=True)


def _write(operation: ops.Write, root: Path) -> None:
    text = operation.text
    if isinstance(text, ops.Words):
        lines: Iterable[str] = [text.text] if text.text else []
    elif isinstance(text, ops.Totals):
        sizes = [path.stat().st_size for path in select(text.what, root)]
        lines = [f"{len(sizes)} files, {sum(sizes)} bytes\n"]
    elif isinstance(text, ops.Types):
        found = [path.suffix[1:] for path in select(text.what, root)]
        lines = [f"{each} {found.count(each)}\n" for each in sorted(set(found))]
    else:
        lines = _lines(text, root)
    place = root / operation.path
    place.parent.mkdir(parents=True, exist_ok=True)
    assert not place.exists()
    place.write_text("".join(lines))


def _lines(text: ops.Listing, root: Path) -> list[str]:
    found = select(text.what, root)
    if text.form == "path":
        return sorted(f"{path.relative_to(root).as_posix()}\n" for path in found)
    names = sorted((path.name, path.stat().st_size) for path in found)
    lines = [f"{name}\n" if text.form == "name" else f"{name} {size}\n" for name, size in names]
    return [*lines, f"TOTAL {sum(size for _, size in names)}\n"] if text.total else lines


def _unroll(operation: ops.Unroll, root: Path) -> None:
    for line in (root / operation.listing).read_text().splitlines():
        place = root / operation.folder / f"{line.strip()}{operation.ending}"
        if operation.make == "folders":
            place.mkdir()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(operation.text.replace("{}", line.strip()))


_DOERS = {
    ops.Move: _move,
    ops.Copy: _copy,
    ops.Delete: _delete,
    ops.Remove: _remove,
    ops.Prune: _prune,
    ops.MakeFolder: _make,
    ops.Write: _write,
    ops.Unroll: _unroll,
}
