"""Tools that can be called: results as an agent sees them, event loops, and ways a call can fail."""

import asyncio
import inspect
import itertools
import json
import os
import typing
from asyncio import events
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import GeneratorType
from typing import Any, Protocol

import msgspec

from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.mcp.server_code import ServerCode
from misstep.adapters.toolset.functions import readable_hints
from misstep.core.text import in_words
from misstep.core.tool import Described
from misstep.errors import UsageError

ANYTHING = (Any, object, None, type(None))


def context_of(function: Callable[..., Any], contexts: tuple[type, ...], name: str) -> Any:
    """The object a tool expects in its context: an instance of the class in `Context[Class]`.

    It is created without arguments; raises `UsageError` if that is impossible. None if no class is given.
    """
    hints = [hint for hint in readable_hints(function).values() if typing.get_origin(hint) in contexts]
    wanted = typing.get_args(hints[0])[0] if hints else None
    if wanted in ANYTHING or not inspect.isclass(wanted):
        return None
    if not required_parameters(wanted):
        with suppress(Exception):  # it needs something after all, such as a key
            return wanted()
    raise missing(name, f"of the type {wanted.__name__}")


def missing(name: str, what: str) -> UsageError:
    """The error for a tool that needs something only its surrounding program has."""
    message = f"'{name}' needs something {what} from its framework, which misstep can't provide"
    return UsageError(message, "wrap it in a function that provides it, and name that")


MOST = 4_000  # characters of a result that are kept
COUNTED = 1_000_000  # characters up to which a result that is not a text is serialised to count them
MOST_ITEMS = 1_000  # taken from a generator that may be endless
LARGEST = 1_000_000  # characters of a structured result
DEEPEST = 50  # nesting of objects that are not JSON


class Returned(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text that the agent gets, truncated; `size` is its full length, as far as counted."""

    text: str
    size: int
    structured: str | None = None  # JSON, if the tool declares what its results look like
    flagged: bool = False  # the framework or server marks this as an error


class FunctionSlot(Protocol):
    function: Callable[..., Any]


class BoundTool(msgspec.Struct, frozen=True):
    """A tool that can be called. `entry` holds its own innermost function, if that can be replaced.

    `call` does what an agent's framework would. Exceptions of the tool are not changed. `ArgumentsRefused`
    means that the arguments did not reach the tool; `ServerGone`, `Garbled` and `ServerError` are for
    servers. `begin` makes a call of a server without waiting for the result; what it returns waits for it, or
    cancels the call after so many seconds. Its second argument is called if that takes more than a
    moment. `call_unlisted` makes the call under a name that the server does not list.
    """

    described: Described
    call: Callable[[dict[str, Any]], Returned]
    entry: FunctionSlot | None = None
    begin: Callable[[dict[str, Any], Callable[[], None]], Callable[[float | None], Returned]] | None = None
    call_unlisted: Callable[[dict[str, Any]], Returned] | None = None


class Toolset(msgspec.Struct, frozen=True):
    """Tools that share state."""

    bounds: Sequence[BoundTool]
    forkable: bool  # a forked process has a copy of that state
    close: Callable[[], None]
    skipped: Sequence[str]  # why tools were left out
    notes: Sequence[str] = ()  # what else was odd
    about: Sequence[str] = ()  # names and versions of servers, as they tell them
    code: ServerCode | None = None  # reports what runs in servers


def told(value: Any, structured: str | None = None, flagged: bool = False) -> Returned:
    """The value as text, whatever it is."""
    if type(value) is str:
        return Returned(value[:MOST], len(value), structured, flagged)
    return Returned(*_written(value), structured, flagged)


def structure(value: Any) -> str | None:
    """The value as JSON; None if it cannot be represented, or is far too large."""
    if isinstance(value, str) and len(value) > LARGEST:
        return None
    try:
        text = json.dumps(_plain(value, 0), ensure_ascii=True, allow_nan=False)
    except Exception:  # including errors of the tool's own objects
        return None
    return text if len(text) <= LARGEST else None


def spent(value: Any) -> Any:
    """The value, or a list of a generator's first items, so that its code runs."""
    return list(itertools.islice(value, MOST_ITEMS)) if isinstance(value, GeneratorType) else value


def _written(value: Any) -> tuple[str, int]:
    if isinstance(value, bytes | bytearray | memoryview):
        return in_words(bytes(value[:MOST]))[:MOST], len(value)
    if isinstance(value, dict | list | tuple):
        try:
            return _counted(value)
        except Exception:  # not JSON, or nested objects that fail
            pass
    text = in_words(value)
    return text[:MOST], len(text)


def _counted(value: Any) -> tuple[str, int]:
    """The start of the value as JSON, and its length up to a limit."""
    kept, size = list[str](), 0
    for piece in json.JSONEncoder(ensure_ascii=False, default=in_words).iterencode(value):
        if size < MOST:
            kept.append(piece[: MOST - size])
        size += len(piece)
        if size > COUNTED:
            break
    return "".join(kept), size


def _plain(value: Any, deep: int) -> Any:
    """The value as plain JSON types: models and classes with fields become dicts."""
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
    """Awaits results of tools. A forked process gets its own loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def settle(self, value: Any) -> Any:
        """The value, its awaited result, or a list of what an async generator yields."""
        if inspect.isasyncgen(value):
            return self.open().run_until_complete(drained(value))
        return self.open().run_until_complete(_awaited(value)) if inspect.isawaitable(value) else value

    def open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
            self._loop.set_default_executor(_Here(1))
        return self._loop

    def close(self) -> None:
        if self._loop is not None and self._process == os.getpid():
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        self._loop = None


async def _awaited(value: Any) -> Any:
    return await value


async def drained(value: Any) -> list[Any]:
    """The first items of an async generator."""
    found = list[Any]()
    async for each in value:
        found.append(each)
        if len(found) == MOST_ITEMS:
            break
    await value.aclose()
    return found


@contextmanager
def no_loop_running() -> Iterator[None]:
    """For code that may start its own event loop, which is impossible while one runs in its thread."""
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
    """Runs at once, in this thread, what frameworks send to other threads, so that it can be observed."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class ArgumentsRefused(Exception):
    """Validation before the tool's own code rejected the arguments; its exception is the cause."""


class ServerError(Exception):
    """A server replied with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ServerGone(Exception):
    """The server's process or connection has ended; `last` is its last output."""

    def __init__(self, message: str, last: str = "") -> None:
        super().__init__(f"{message}\n{last}" if last else message)
        self.last = last


class Garbled(Exception):
    """The server's reply violates the protocol."""
