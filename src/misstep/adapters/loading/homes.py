"""Finds a spec for an object of the user's, or writes it to a file, so that other processes can load it."""

import ast
import base64
import hashlib
import inspect
import os
import pickle
import re
import subprocess
import sys
import tempfile
from functools import cache
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from misstep.core.secrets import secrets_in
from misstep.errors import MissingExtra, UsageError
from misstep.schemas.source import parse_module

SCRIPT = "__main__"  # a notebook, or a script that would run again when loaded


class ObjectHome(msgspec.Struct, frozen=True):
    """The name of an object in a module, or of a function that returns it if `called`."""

    module: str
    file: str
    name: str
    called: bool = False

    @property
    def spec(self) -> str:
        """`file.py:name` or `package.module:name`; empty if the package cannot be found from here."""
        name = f"{self.name}()" if self.called else self.name
        if self._root is None:
            inside = os.path.relpath(self.file)  # the shortest path from the working directory
            return f"{os.path.abspath(self.file) if inside.startswith(os.pardir) else inside}:{name}"
        return f"{self.module}:{name}" if self._root == Path.cwd() else ""

    @property
    def lacks_nothing(self) -> bool:
        """Whether a fresh interpreter searches the same places for modules as this process."""
        known = {*_fresh_paths(), os.getcwd(), str(self._root or Path(self.file).parent)}
        known.add(os.path.dirname(os.path.abspath(sys.argv[0])))
        return all(path in known or not os.path.isdir(path) for path in map(os.path.abspath, sys.path))

    @property
    def _root(self) -> Path | None:
        """The folder that contains its package, if it is in one."""
        path = Path(self.file).resolve()
        levels = self.module.count(".") + (path.name == "__init__.py")
        return path.parents[levels] if levels else None


def home_of(value: Any) -> ObjectHome | None:
    """The home of an object, if it has a name in a module."""
    found = _by_its_own_word(value) or _by_search(value)
    if found is None:
        return None
    module, name = found
    file = getattr(module, "__file__", None) or ""
    known = module.__name__ != SCRIPT and file.endswith(".py")
    return ObjectHome(module.__name__, os.path.abspath(file), name) if known else None


def _by_its_own_word(value: Any) -> tuple[ModuleType, str] | None:
    """For functions and classes, which know where they were defined."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    name = getattr(value, "__qualname__", "")
    if module is None or not isinstance(name, str) or not name or "<" in name:
        return None
    there: Any = module
    for part in name.split("."):
        there = inspect.getattr_static(there, part, None)
    return (module, name) if there is value else None


def _by_search(value: Any) -> tuple[ModuleType, str] | None:
    """For any other object, by searching all modules."""
    for known, module in list(sys.modules.items()):
        held: dict[str, Any] = {} if known == SCRIPT else getattr(module, "__dict__", {})
        for name, each in list(held.items()):
            if each is value and name.isidentifier() and not name.startswith("_"):
                return module, name
    return None


@cache
def _fresh_paths() -> frozenset[str]:
    script = "import sys; print(*sys.path, sep='\\n')"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout
    return frozenset(os.path.abspath(path) for path in told.splitlines())


_OPENING = "Something that a test or a notebook has given to misstep, for processes that need it too."
# Values are written as Python literals, so no text can become code.
_HEAD = '''\
"""{opening}"""

import sys

paths = {paths!r}
sys.path += [path for path in paths if path not in sys.path]
'''
_NAMED = """\
from importlib import import_module
from operator import attrgetter

{name} = attrgetter({there!r})(import_module({module!r})){call}
"""
_PICKLED = """\
import base64
import pickle

{name} = pickle.loads(base64.b85decode({data!r}))
"""
ELSEWHERE = "pass it as file.py:name, or define it at the top level of a module"


def handed_over(value: Any, home: ObjectHome | None, name: str, folder: Path) -> str:
    """A spec by which any process finds the object. Raises `UsageError` if it cannot leave this one.

    An object with a home is looked up there whenever it is loaded; any other is stored as it is now, in a
    file in the folder.
    """
    if home and home.spec and home.lacks_nothing:
        return home.spec
    known = re.sub(r"\W", "_", name).lstrip("_0123456789") or "given"
    if home and _is_importable(home.module):
        call = "()" if home.called else ""
        body = _NAMED.format(name=known, there=home.name, module=home.module, call=call)
    else:
        data = _pickled(value, name)
        if any(secret.encode() in data for secret in secrets_in(os.environ)):
            why = "contains the value of a secret environment variable, and secrets are never stored"
            hint = "read the variable when it is called, not when it is defined"
            raise UsageError(f"{name} {why}", hint)
        body = _PICKLED.format(name=known, data=base64.b85encode(data).decode())
    # Where this process looks for modules and a fresh interpreter elsewhere would not.
    usual = _fresh_paths() - {os.getcwd()}
    paths = [path for path in dict.fromkeys(map(os.path.abspath, sys.path)) if path not in usual]
    content = _HEAD.format(opening=_OPENING, paths=paths) + body
    path = folder / f"{known}_{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}.py"
    _write(path, content)
    return f"{path}:{known}"


def handed_over_paths(file: str) -> list[str]:
    """The module search paths in a file written by `handed_over`; empty for other files."""
    try:
        tree = parse_module(Path(file).read_text(encoding="utf-8"))
        if tree is None or ast.get_docstring(tree) != _OPENING:
            return []
        paths = [ast.literal_eval(node.value) for node in tree.body[:3] if isinstance(node, ast.Assign)]
        return [str(path) for path in chain.from_iterable(paths)]
    except (OSError, ValueError, TypeError, RecursionError, MemoryError):
        return []  # reported when it is loaded


def _is_importable(module: str) -> bool:
    """Whether another process with the same paths can import it."""
    first = module.partition(".")[0]
    return module != SCRIPT and (first in sys.stdlib_module_names or PathFinder.find_spec(first) is not None)


def _pickled(value: Any, name: str) -> bytes:
    """The object as bytes; code that other processes cannot import is included."""
    try:
        import cloudpickle
    except ImportError as error:
        what = "cloudpickle, which sends objects to other processes,"
        raise MissingExtra(what, "fuzz", ELSEWHERE) from error
    modules = list[ModuleType]()
    try:
        values = value if isinstance(value, list | tuple) else [value]
        homes = {getattr(each, "__module__", None) or type(each).__module__ for each in values}
        for home in homes - {SCRIPT}:
            if home in sys.modules and not _is_importable(home):
                cloudpickle.register_pickle_by_value(sys.modules[home])
                modules.append(sys.modules[home])
        data: bytes = cloudpickle.dumps(value)
        return data
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise UsageError(f"{name} can't be sent to another process: {error}", ELSEWHERE) from error
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Readers find a complete file or none.
        number, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(draft, path)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path)) from error
