"""What a tool gives back, as an agent would get to see it.

What frameworks give to a tool beside the model's arguments, as far as it can be made up.

An event loop that stays open from one call of a tool to the next.

How a call can fail that never reached the tool's own code, or got no answer from it.
"""

import asyncio
import inspect
import itertools
import json
import os
import typing
from asyncio import events
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import GeneratorType
from typing import Any

import msgspec

from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.toolset.functions import readable_hints
from misstep.core.text import in_words
from misstep.errors import UsageError

ANYTHING = (Any, object, None, type(None))


def belongings(function: Callable[..., Any], contexts: tuple[type, ...], name: str) -> Any:
    """What a tool expects to find in its context: an object of the class that `Context[Class]` names.

    It is made without arguments; a `UsageError` where that is impossible. None if nothing is said.
    """
    for hint in readable_hints(function).values():
        if typing.get_origin(hint) in contexts:
            wanted = typing.get_args(hint)[0]
            return None if wanted in ANYTHING or not inspect.isclass(wanted) else _made(wanted, name)
    return None


def _made(wanted: type, name: str) -> Any:
    if not required_parameters(wanted):
        try:
            return wanted()
        except Exception:  # it needs something all the same, such as a key
            pass
    raise missing(name, f"of the type {wanted.__name__}")


def missing(name: str, what: str) -> UsageError:
    """That a tool needs what only the program around it has."""
    message = f"'{name}' needs something {what} from its framework, which can't be made up"
    return UsageError(message, "wrap it in a function that gives it, and name that")


MOST = 4_000  # characters of a result that are kept
COUNTED = 1_000_000  # characters up to which a result that is no text is written, in order to count them
MOST_ITEMS = 1_000  # that are asked of something that may give them without end
LARGEST = 1_000_000  # characters of a structured result
DEEPEST = 50  # levels of objects that are no JSON by themselves


class Returned(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text that the agent gets, cut, with `size` characters in all as far as they were counted.

    `structured` is JSON, where the tool says what its results look like. `flagged` if the framework or the
    server says that this is an error.
    """

    text: str
    size: int
    structured: str | None = None
    flagged: bool = False


def told(value: Any, structured: str | None = None, flagged: bool = False) -> Returned:
    """The value in words, whatever it is."""
    if type(value) is str:
        return Returned(value[:MOST], len(value), structured, flagged)
    text, size = _written(value)
    return Returned(text, size, structured, flagged)


def structure(value: Any) -> str | None:
    """The value as JSON; None where it has none, or far too much of it."""
    if isinstance(value, str) and len(value) > LARGEST:
        return None
    try:
        text = json.dumps(_plain(value, 0), ensure_ascii=True, allow_nan=False)
    except Exception:  # of the tool's own objects too
        return None
    return text if len(text) <= LARGEST else None


def spent(value: Any) -> Any:
    """The value, or a list of what comes first out of a generator, whose code runs no sooner than that."""
    return list(itertools.islice(value, MOST_ITEMS)) if isinstance(value, GeneratorType) else value


def _written(value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        text = in_words(value)
        return text[:MOST], len(text)
    if isinstance(value, bytes | bytearray | memoryview):
        return in_words(bytes(value[:MOST]))[:MOST], len(value)
    if isinstance(value, dict | list | tuple):
        try:
            return _counted(_pieces(value))
        except Exception:  # it is no JSON, or its parts have ideas of their own
            pass
    text = in_words(value)
    return text[:MOST], len(text)


def _pieces(value: Any) -> Iterator[str]:
    return json.JSONEncoder(ensure_ascii=False, default=in_words).iterencode(value)


def _counted(pieces: Iterator[str]) -> tuple[str, int]:
    """The beginning of a text that comes in pieces, and how long it is, as far as anybody wants to know."""
    kept, size = list[str](), 0
    for piece in pieces:
        if size < MOST:
            kept.append(piece[: MOST - size])
        size += len(piece)
        if size > COUNTED:
            break
    return "".join(kept), size


def _plain(value: Any, deep: int) -> Any:
    """The value made of what JSON has: models and classes with fields become objects."""
    if value is None or isinstance(value, str | int | float | bool) or deep > DEEPEST:
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each, deep + 1) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each, deep + 1) for each in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    return msgspec.to_builtins(value)


class Loop:
    """Waits for whatever has to be awaited. A process that was forked gets a loop of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def settle(self, value: Any) -> Any:
        """The value, or what comes of it where it has to be awaited; a list of what it gives bit by bit."""
        if inspect.isasyncgen(value):
            return self.open().run_until_complete(drained(value))
        return self.open().run_until_complete(_awaited(value)) if inspect.isawaitable(value) else value

    def open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
            self._loop.set_default_executor(_Here())
        return self._loop

    def close(self) -> None:
        if self._loop is not None and self._process == os.getpid():
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        self._loop = None


async def _awaited(value: Any) -> Any:
    return await value


async def drained(value: Any) -> list[Any]:
    """What comes first out of an asynchronous generator."""
    found = list[Any]()
    async for each in value:
        found.append(each)
        if len(found) == MOST_ITEMS:
            break
    await value.aclose()
    return found


@contextmanager
def no_loop_running() -> Iterator[None]:
    """For code that may start an event loop of its own, which it can't while another runs in its thread."""
    running = events._get_running_loop()
    if running is None:
        yield
        return
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)


class _Here(ThreadPoolExecutor):
    """Carries out at once, where it can be watched, what frameworks send into other threads."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class ArgumentsRefused(Exception):
    """What checks arguments before the tool's own code did not let them pass; what it raised is the cause."""


class ServerError(Exception):
    """A server answered with an error of JSON-RPC instead of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class ServerGone(Exception):
    """The server's process or its connection has ended; `last` is what it printed at the end."""

    def __init__(self, message: str, last: str = "") -> None:
        super().__init__(f"{message}\n{last}" if last else message)
        self.last = last


class Garbled(Exception):
    """What the server sent is no answer by the rules of its protocol."""
