"""Check that each patch of `patches/` makes the test that misstep wrote pass, which failed before.

    python field-study/check_patches.py [NAME]...

Packages are installed into a folder of the study, patched there, and restored.
"""

import os
import subprocess
import sys
from pathlib import Path

from packages import HERE, SERVERS, Package, packages

from misstep.adapters.mcp.packages import FOLDER, installation_of

PATCHES = HERE / "patches"


def main() -> int:
    os.environ[FOLDER] = str(SERVERS)
    names = sys.argv[1:] or sorted(each.stem for each in PATCHES.glob("*.patch"))
    wrong = [name for name in names if not _is_right(name)]
    print(f"{len(names) - len(wrong)} of {len(names)} patches turn a failing test into a passing one")
    return int(bool(wrong))


def _is_right(name: str) -> bool:
    """Whether the test fails, and passes once the patch is applied."""
    patch, test = PATCHES / f"{name}.patch", PATCHES / f"test_{name}.py"
    package = _package_of(patch)
    server = package.server()
    folder = installation_of(server.command[0])
    before = _passes(test)
    try:
        _patch(patch, folder)
        after = _passes(test)
    finally:
        _patch(patch, folder, "--reverse")
    print(
        f"{name}: {'passes' if before else 'fails'} before, {'passes' if after else 'fails'} after",
        flush=True,
    )
    return after and not before


def _package_of(patch: Path) -> Package:
    """The package that the first line of the patch names."""
    first = patch.read_text().partition("\n")[0]
    return packages((first.removeprefix("Package: ").split()[0],))[0]


def _passes(test: Path) -> bool:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test))
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    if done.returncode > 1:
        raise SystemExit(f"{test.name} can't be run:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.returncode == 0


def _patch(patch: Path, folder: str, *options: str) -> None:
    command = ("patch", "--silent", "--strip=1", *options, f"--directory={folder}", f"--input={patch}")
    # If a patch doesn't fit, no other file is left in the package.
    subprocess.run((*command, "--no-backup-if-mismatch", "--reject-file=-"), check=True)


if __name__ == "__main__":
    sys.exit(main())
