"""Environments for tests, each made once for its requirements and its interpreter.

`python -m tests.environments NAME` makes `.venv-NAME` from `NAME.txt`, or from the folder `NAME` where it is one of Node.
A stamp in it holds the hash of what it was made from; an environment whose stamp fits is kept. Where one can't be
made, its tests are skipped. Only the standard library is needed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STAMP = ".installed"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r")
NPM = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
NEWER = ("3.13", "3.12")  # what can follow code by sys.monitoring


def main(name: str, folder: Path | None = None, python: str = "") -> None:
    made = folder or ROOT / f".venv-{name}"
    python = python or (newer_python() if name == "newer" else sys.executable)
    files = requirements(name)
    wanted = stamp_of(files, python)
    if is_fresh(made, wanted):
        return
    print(f"making an environment for {name}", flush=True)
    shutil.rmtree(made, ignore_errors=True)
    try:
        install(files, made, python)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(made, ignore_errors=True)
        print(f"no environment for {name}, its tests will be skipped: {error}", flush=True)
    else:
        (made / STAMP).write_text(wanted, encoding="utf-8")


def requirements(name: str) -> list[Path]:
    folder = HERE / name
    return sorted(folder.glob("package*.json")) if folder.is_dir() else [HERE / f"{name}.txt"]


def newer_python() -> str:
    """A Python of one of those versions, on the path or from pyenv; NEWER=… overrides it."""
    if given := os.environ.get("NEWER"):
        return given
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [shutil.which(f"python{version}") for version in NEWER]
    found += [str(path) for version in NEWER for path in pyenv.glob(f"versions/{version}.*/bin/python")]
    return next((path for path in found if path and version_of(path)), "")


def version_of(python: str) -> str:
    """What an interpreter says it is; nothing if it doesn't start."""
    try:
        return subprocess.run([python, "-VV"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def stamp_of(files: list[Path], python: str) -> str:
    content = b"\0".join([version_of(python).encode(), *[path.read_bytes() for path in files]])
    return hashlib.sha256(content).hexdigest()


def is_fresh(made: Path, wanted: str) -> bool:
    stamp = made / STAMP
    return stamp.exists() and stamp.read_text(encoding="utf-8") == wanted


def install(files: list[Path], made: Path, python: str) -> None:
    if files[0].suffix == ".json":
        made.mkdir()
        for path in files:
            shutil.copy(path, made)
        subprocess.run(["npm", *NPM], cwd=made, stdout=subprocess.DEVNULL, check=True)
    else:
        if not python:
            raise FileNotFoundError(f"there is no Python {' or '.join(NEWER)}")
        subprocess.run([python, "-m", "venv", made], check=True)
        subprocess.run([made / "bin" / "python", *PIP, files[0]], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
