"""A bare environment outside the tree: a wheel, the packages that it declares, and nothing else."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check")


def build(folder: Path, source: Path = ROOT) -> Path:
    """The wheel of a distribution of this repository."""
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    command = [sys.executable, "-c", code]
    built = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return folder / built.stdout.split()[-1]


class BareEnvironment:
    """A virtual environment without pip, in which nothing is installed but what is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "environment"
        self.work = folder / "work"
        self.home = folder / "home"
        for each in (self.work, self.home):
            each.mkdir(parents=True)
        venv.create(self.folder, with_pip=False, symlinks=True)
        (self.site,) = self.folder.glob("lib/python3*/site-packages")

    def install(self, *wheels: Path, extras: str = "") -> None:
        """Install wheels, and copies of the packages they declare: tests need no network."""
        python = str(self.folder / "bin" / "python")
        command = [sys.executable, *PIP, "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
        subprocess.run([*command, *map(str, wheels)], check=True, capture_output=True)
        ours = {wheel.name.partition("-")[0].replace("_", "-") for wheel in wheels}
        for name in ours:
            declared = Distribution.discover(name=name, path=[str(self.site)])
            for needed in closure(next(iter(declared)), {"", *extras.split(",")}, set(ours)):
                copy(needed, self.site)

    def run(self, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment, in a folder and a home of its own."""
        program = str(self.folder / "bin" / command[0])
        environment = {"PATH": os.defpath, "HOME": str(self.home), "LANG": "C.UTF-8", **variables}
        return subprocess.run(
            [program, *command[1:]], cwd=self.work, env=environment, capture_output=True, text=True
        )


def closure(of: Distribution, extras: set[str], seen: set[str]) -> Iterator[Distribution]:
    """What a distribution requires, with what that requires in turn, as installed for these tests."""
    for text in of.requires or ():
        needed = Requirement(text)
        if needed.marker and not any(needed.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        try:
            found = distribution(needed.name)
        except PackageNotFoundError as error:
            raise LookupError(f"{of.name} declares {needed}, which is not installed here") from error
        assert found.version in needed.specifier, f"{of.name} declares {needed}, not {found.version}"
        if found.name.lower() not in seen:
            seen.add(found.name.lower())
            yield found
            yield from closure(found, {"", *needed.extras}, seen)


def copy(package: Distribution, site: Path) -> None:
    for file in package.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)
