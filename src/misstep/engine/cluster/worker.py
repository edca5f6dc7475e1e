"""The far side: an agent at work in a process of the cluster."""

import asyncio
import os
import pickle
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeAlias

from misstep.core.campaign import Execute
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.rate_limiter import RateLimiters
from misstep.engine.cluster.rate_limit_actor import ActorRateLimiters
from misstep.engine.cluster.usage_tally import UsageTally
from misstep.engine.cluster.wire import Ended, decode, encode, failure_of

MakeWorker: TypeAlias = Callable[[RateLimiters], AbstractAsyncContextManager[Execute]]

NEEDS = "every node needs misstep, the files and packages of the agent, and its keys in the environment"


class Worker:
    """Runs cases, as many at once as it is given. An actor, with one agent for all of its life."""

    def __init__(self, make: bytes, desk: Any, name: str, home: str) -> None:
        self._make = make
        self._gates = ActorRateLimiters(desk, name)
        self._tabs = dict[int, UsageTally]()
        self._work = dict[int, asyncio.Future[Outcome]]()
        self._stopped = set[int]()
        with suppress(OSError):  # files are named as the driver sees them, where there is such a folder
            os.chdir(home)

    async def prepare(self) -> bytes:
        """Nothing once the agent is ready, or else what is wrong."""
        self._over = asyncio.Event()
        self._ready: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live())
        return await self._ready

    async def _live(self) -> None:
        """One task for the agent's beginning and end: some of what it opens may not be closed in another."""
        try:
            make: MakeWorker = pickle.loads(self._make)
            async with make(self._gates) as self._execute:
                self._ready.set_result(b"")
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_result(encode(failure_of(error, NEEDS)))

    async def execute(self, ticket: int, case: bytes) -> bytes:
        """How a case `Ended`."""
        tab = self._tabs[ticket] = UsageTally()
        work = asyncio.ensure_future(self._execute(decode(case, Case), tab))
        self._work[ticket] = work
        if ticket in self._stopped:
            work.cancel()
        try:
            outcome = await work
            ended = Ended(tab.spent, outcome)
        except asyncio.CancelledError:
            ended = Ended(tab.spent)
        except BaseException as error:
            ended = Ended(tab.spent, failure=failure_of(error))
        finally:
            del self._tabs[ticket], self._work[ticket]
            self._stopped.discard(ticket)
        return encode(ended)

    async def stop(self, ticket: int) -> None:
        """Cancel a case, even one that is still to come: messages may overtake each other."""
        if ticket in self._work:
            self._work[ticket].cancel()
        else:
            self._stopped.add(ticket)

    async def news(self, pause: float) -> bytes:
        """After a pause, all that each case has used if it has used more since the last time."""
        await asyncio.sleep(pause)
        return encode({ticket: tab.spent for ticket, tab in self._tabs.items() if tab.is_news()})

    async def close(self) -> None:
        self._over.set()
        await asyncio.wait([self._life])
