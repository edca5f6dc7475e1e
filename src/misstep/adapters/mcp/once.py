"""Things that many cases share, started when the first of them comes."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """What `start` gives, started once for all who need it, and to the end even if they don't wait for it."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._start = start
        self._starting: asyncio.Task[T] | None = None

    async def get(self) -> T:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        try:
            return await asyncio.shield(self._starting)
        except Exception:
            self._starting = None
            raise

    async def take_back(self) -> T | None:
        """What was started, if anything was, for the caller to stop; the next `get` starts anew."""
        starting, self._starting = self._starting, None
        return None if starting is None else await starting
