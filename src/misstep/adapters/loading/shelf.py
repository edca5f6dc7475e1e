"""Objects that no spec would lead to, put into files so that other processes can load them."""

import ast
import base64
import hashlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path
from typing import Any

from misstep.adapters.loading.homes import SCRIPT, Home, own_paths
from misstep.core.secrets import secrets_in
from misstep.errors import MissingExtra, UsageError

_OPENING = "Something that a test or a notebook has given to misstep, for processes that need it too."
# Values are literals, written by Python itself: no text can be more than a text.
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
ELSEWHERE = "give it as file.py:name, or as something that a module has a name for"


def handed_over(value: Any, home: Home | None, name: str, folder: Path) -> str:
    """A spec by which any process finds the object; a `UsageError` where it can't leave this one.

    What has a home is taken from there whenever it is loaded; anything else stays what it is now, in a file
    of the folder.
    """
    if home and home.spec and home.lacks_nothing:
        return home.spec
    known = re.sub(r"\W", "_", name).lstrip("_0123456789") or "given"
    if home and _is_importable(home.module):
        call = "()" if home.called else ""
        body = _NAMED.format(name=known, there=home.name, module=home.module, call=call)
    else:
        data = _pickled(value, name)
        _refuse_secrets(data, name)
        body = _PICKLED.format(name=known, data=base64.b85encode(data).decode())
    content = _HEAD.format(opening=_OPENING, paths=own_paths()) + body
    path = folder / f"{known}_{hashlib.blake2b(content.encode(), digest_size=6).hexdigest()}.py"
    _write(path, content)
    return f"{path}:{known}"


def paths_on_shelf(file: str) -> list[str]:
    """The folders in which an object in a file of ours looks for modules; none for other files."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        if ast.get_docstring(tree) != _OPENING:
            return []
        paths = [ast.literal_eval(node.value) for node in tree.body[:3] if isinstance(node, ast.Assign)]
        return [str(path) for path in chain.from_iterable(paths)]
    except (OSError, ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return []  # whoever loads it will say what is wrong with it


def _is_importable(module: str) -> bool:
    """Whether another process with the same paths finds it."""
    first = module.partition(".")[0]
    return module != SCRIPT and (first in sys.stdlib_module_names or PathFinder.find_spec(first) is not None)


def _pickled(value: Any, name: str) -> bytes:
    try:
        import cloudpickle
    except ImportError as error:
        raise MissingExtra("cloudpickle, which hands objects to processes,", "fuzz", ELSEWHERE) from error
    try:
        with _by_value(value):
            data: bytes = cloudpickle.dumps(value)
            return data
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise UsageError(f"{name} can't be handed to another process: {error}", ELSEWHERE) from error


def _refuse_secrets(data: bytes, name: str) -> None:
    if any(secret.encode() in data for secret in secrets_in(os.environ)):
        hint = "let it read the environment when it is called, and not before"
        raise UsageError(f"{name} holds a secret out of the environment, and secrets are never stored", hint)


@contextmanager
def _by_value(value: Any) -> Iterator[None]:
    """Code that others could not import goes along."""
    import cloudpickle

    values = value if isinstance(value, list | tuple) else [value]
    homes = {getattr(each, "__module__", None) or type(each).__module__ for each in values} - {SCRIPT}
    modules = [sys.modules[home] for home in homes if home in sys.modules and not _is_importable(home)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever reads it meanwhile finds all of it or nothing.
        number, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(draft, path)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path)) from error
