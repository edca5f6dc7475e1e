"""Loads objects from the user's code, runs it without side effects on our output, and finds its source."""

import asyncio
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from misstep.core.secrets import Redactor, secrets_in
from misstep.core.text import cut
from misstep.core.tool import Source
from misstep.errors import MisstepError, UsageError, did_you_mean

MOST_NAMED = 200  # characters of names
EXPECTED = "expected file.py:name or package.module:name"


def load_object(location: str) -> Any:
    """The object with this name in a file or module. Raises `UsageError` for any problem."""
    source, colon, name = location.rpartition(":")
    if not colon or not source or not name:
        raise UsageError(f"'{location}' does not name an object", EXPECTED)
    module = _load_file(source) if source.endswith(".py") else _load_module(source)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = {each: held for each, held in vars(module).items() if not each.startswith("_")}
            told = cut(", ".join(each for each, held in known.items() if _is_of(held, module)), MOST_NAMED)
            hint = did_you_mean(name, known) or (f"there is: {told}" if told else "")
            raise UsageError(f"there is no '{name}' here", hint, where=source)
        value = getattr(value, part)
    return value


def _is_of(value: Any, module: ModuleType) -> bool:
    """Whether the module defines the value, as far as known."""
    try:
        return not isinstance(value, ModuleType) and getattr(value, "__module__", "") in ("", module.__name__)
    except Exception:  # an object that fails on access
        return False


def _load_file(source: str) -> ModuleType:
    path = Path(source).resolve()
    if not path.is_file():
        raise UsageError("no such file", where=source)
    # Sibling modules can be imported, as if the file had been run.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    unique = f"{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()}"
    if unique in sys.modules:
        return sys.modules[unique]
    spec = importlib.util.spec_from_file_location(unique, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    try:
        with blaming(source):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[unique]
        raise
    return module


def _load_module(source: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        known = importlib.util.find_spec(source) is not None
    except (ImportError, ValueError):
        known = False
    if not known:
        raise UsageError(f"there is no module '{source}'", EXPECTED)
    with blaming(source):
        return importlib.import_module(source)


@contextmanager
def blaming(source: str) -> Iterator[None]:
    """Turn any exception of the user's code into an error that shows where it was raised."""
    try:
        yield
    except (MisstepError, KeyboardInterrupt):
        raise
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).name == Path(source).name]
        where = f"{source}:{own[-1].lineno}" if own else source
        told = Redactor(secrets_in(os.environ))(f"raised {type(error).__name__}: {error}")
        elsewhere = "if it is installed in another environment, pass that interpreter with --python"
        hint = elsewhere if isinstance(error, ModuleNotFoundError) else ""
        raise UsageError(told, hint, where=where) from error


OUTPUT, ERROR = 1, 2


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error meanwhile, for this process and its children."""
    with suppress(AttributeError, OSError, ValueError):  # missing or closed
        sys.stdout.flush()
    ours: int | None = None
    with suppress(OSError):
        ours = os.dup(OUTPUT)
        os.dup2(ERROR, OUTPUT)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if ours is not None:
            os.dup2(ours, OUTPUT)
            os.close(ours)


def settled(value: Any) -> Any:
    """The value, or its awaited result, even while an event loop is running."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as beside_the_loop:
        return beside_the_loop.submit(asyncio.run, wait()).result()


LONGEST = 200_000  # characters of source that are kept


def unwrapped(function: Any) -> Any:
    """The function itself, without decorators, partial arguments and the object it is bound to."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function


def source_of(code: Any) -> Source | None:
    """The source of a function or class, or of the class of another callable."""
    plain = unwrapped(code)
    if not (inspect.isclass(plain) or inspect.isfunction(plain)):
        plain = type(plain)
    try:
        lines, first = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain)
    except Exception:  # there is no source, or a module gives a wrong file
        return None
    return Source(file, max(first, 1), "".join(lines)[:LONGEST]) if file else None


def is_async(code: Any) -> bool:
    plain = unwrapped(code)
    called = plain if inspect.isfunction(plain) else vars(type(plain)).get("__call__")
    return any(
        test(each)
        for test in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (code, plain, called)
        if not inspect.isclass(each)
    )
