"""Where an object of the user's own is at home, so that other processes and later commands find it."""

import inspect
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

SCRIPT = "__main__"  # a notebook, or a script that would do all its work once more


class Home(msgspec.Struct, frozen=True):
    """A name that a module has for an object, or for a function that gives the object when it is `called`."""

    module: str
    file: str
    name: str
    called: bool = False

    @property
    def spec(self) -> str:
        """`file.py:name` or `package.module:name`; empty where a package can't be found from here."""
        name = f"{self.name}()" if self.called else self.name
        if self._root is None:
            return f"{_from_here(self.file)}:{name}"
        return f"{self.module}:{name}" if self._root == Path.cwd() else ""

    @property
    def lacks_nothing(self) -> bool:
        """Whether a fresh interpreter looks for modules wherever this process does."""
        known = {*_fresh_paths(), os.getcwd(), str(self._root or Path(self.file).parent)}
        known.add(os.path.dirname(os.path.abspath(sys.argv[0])))
        return all(path in known or not os.path.isdir(path) for path in map(os.path.abspath, sys.path))

    @property
    def _root(self) -> Path | None:
        """The folder that its package is in, if it is in one."""
        path = Path(self.file).resolve()
        levels = self.module.count(".") + (path.name == "__init__.py")
        return path.parents[levels] if levels else None


def home_of(value: Any) -> Home | None:
    """The home of an object, if there is a module that has it."""
    found = _by_its_own_word(value) or _by_search(value)
    if found is None:
        return None
    module, name = found
    file = getattr(module, "__file__", None) or ""
    known = module.__name__ != SCRIPT and file.endswith(".py")
    return Home(module.__name__, os.path.abspath(file), name) if known else None


def _by_its_own_word(value: Any) -> tuple[ModuleType, str] | None:
    """Functions and classes say where they were made."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    name = getattr(value, "__qualname__", "")
    if module is None or not isinstance(name, str) or not name or "<" in name:
        return None
    there: Any = module
    for part in name.split("."):
        there = inspect.getattr_static(there, part, None)
    return (module, name) if there is value else None


def _by_search(value: Any) -> tuple[ModuleType, str] | None:
    """Any other object, by looking for it."""
    for known, module in list(sys.modules.items()):
        held: dict[str, Any] = {} if known == SCRIPT else getattr(module, "__dict__", {})
        for name, each in list(held.items()):
            if each is value and name.isidentifier() and not name.startswith("_"):
                return module, name
    return None


def own_paths() -> list[str]:
    """Where this process looks for modules, and a fresh interpreter elsewhere would not."""
    usual = _fresh_paths() - {os.getcwd()}
    return [path for path in dict.fromkeys(map(os.path.abspath, sys.path)) if path not in usual]


@cache
def _fresh_paths() -> frozenset[str]:
    script = "import sys; print(*sys.path, sep='\\n')"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout
    return frozenset(os.path.abspath(path) for path in told.splitlines())


def _from_here(file: str) -> str:
    """As short as it can be written from the folder that we are in."""
    inside = os.path.relpath(file)
    return os.path.abspath(file) if inside.startswith(os.pardir) else inside
