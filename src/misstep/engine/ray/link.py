"""The connection to Ray, with its output suppressed."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from misstep.errors import MissingExtra, MisstepError, UsageError

CONNECT_SECONDS = 15.0
KNOCK_SECONDS = 5.0
QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}
OWN = {
    "address": "local",
    "include_dashboard": False,
    "object_store_memory": 100_000_000,  # misstep sends little, and Ray would take a third of the memory
}


def require_ray() -> None:
    if find_spec("ray") is None:
        raise MissingExtra("Ray", "ray")


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Any]:
    """Connect to the Ray cluster at `address`, or start one; an existing connection is used and left open."""
    require_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_module("ray")
    async with AsyncExitStack() as stack:
        stack.enter_context(_silent())
        if not ray.is_initialized():
            connect = partial(_join, ray, address) if address else partial(ray.init, **OWN, **QUIET)
            try:
                patience = CONNECT_SECONDS if address else None
                await stack.enter_async_context(_hosted(connect, ray.shutdown, patience))
            except Exception as error:
                raise _unreachable(address, error) from error
        yield ray


def listen(call: Any) -> "asyncio.Future[Any]":
    """The result of a remote call, which may be cancelled; cancelling Ray's own future breaks its client."""
    future = asyncio.ensure_future(call)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return asyncio.shield(future)


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress Ray's messages about lost workers, which it prints to stdout whatever its settings."""
    voice: Any = import_module("ray._private.worker")
    before, voice._worker_logs_enabled = getattr(voice, "_worker_logs_enabled", True), False
    try:
        yield
    finally:
        voice._worker_logs_enabled = before


@asynccontextmanager
async def _hosted(
    connect: Callable[[], object], part: Callable[[], object], patience: float | None
) -> AsyncIterator[None]:
    """Connect and disconnect in one thread, because what Ray starts dies with the thread that started it."""
    up, over = Future[None](), threading.Event()
    up.set_running_or_notify_cancel()  # or it would be cancelled with the wait for it

    def host() -> None:
        try:
            connect()
        except Exception as error:
            up.set_exception(error)
            return
        up.set_result(None)
        over.wait()
        part()

    thread = threading.Thread(target=host, name="ray", daemon=True)
    thread.start()
    try:
        async with asyncio.timeout(patience):
            await asyncio.wrap_future(up)
        yield
    finally:
        over.set()
        if up.done() and not up.exception():
            # This blocks the loop: Ray ends the process if any of its objects is used while it shuts down.
            thread.join()


def _join(ray: Any, address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():  # fail fast if there is no server: Ray would take a minute and print a long error
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    ray.init(address=address, **QUIET)


def _unreachable(address: str, error: Exception) -> MisstepError:
    told = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    reason = "no answer in time" if isinstance(error, TimeoutError) else told
    if not address:
        return MisstepError(
            f"Ray can't be started here: {reason}", "its logs are in /tmp/ray/session_latest/logs"
        )
    return UsageError(
        f"the Ray cluster at {address} can't be reached: {reason}",
        "use auto for the cluster of this machine, or ray://HOST:10001 for a remote one (needs ray[client])",
        "a cluster with token authentication needs RAY_AUTH_MODE=token and the token in this environment",
        "without --ray-address a local cluster is started for the run",
        where="--ray-address",
    )
