"""A Ray worker that runs an agent, and the messages it exchanges with the driver.

Messages are JSON bytes, so that both sides read them the same way; arguments of calls may contain integers
too large for MessagePack. Usage is counted in the worker and reported to the driver's budget.
"""

import asyncio
import os
import pickle
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeAlias

import msgspec

import misstep.errors
from misstep.core.case import Case
from misstep.core.outcome import Outcome, Usage, storable
from misstep.core.run import Execute
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.spending import Account, RateLimiters, Spent, UsageCounter
from misstep.engine.ray.rate_limit_actor import actor_rate_limiters
from misstep.errors import MisstepError


class Failure(msgspec.Struct, frozen=True):
    """A misstep error as data: some can't be pickled, and none should appear as an error of Ray."""

    kind: str
    message: str
    hints: tuple[str, ...] = ()
    where: str = ""


class Ended(msgspec.Struct, frozen=True):
    """How a case ended in a worker and what it used; without outcome or failure it was stopped."""

    spent: Spent
    outcome: Outcome | None = None
    failure: Failure | None = None


def failure_of(error: BaseException, *hints: str) -> Failure:
    """An error as data; other exceptions become a `MisstepError`, without secrets and with `hints`."""
    if isinstance(error, MisstepError):
        kinds = [each.__name__ for each in type(error).__mro__ if each.__module__ == misstep.errors.__name__]
        return Failure(kinds[0], error.message, error.hints, error.where)
    told = Redactor(secrets_in(os.environ))(storable(f"{type(error).__name__}: {error}"))
    return Failure(MisstepError.__name__, f"a worker failed with {told}", hints)


def error_of(failure: Failure) -> MisstepError:
    kind = getattr(misstep.errors, failure.kind, MisstepError)
    error: MisstepError = kind.__new__(kind)
    MisstepError.__init__(error, failure.message, *failure.hints, where=failure.where)
    return error


class Flight:
    """A running case as the driver sees it; reports its usage to the account, each amount once."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._told = Spent()

    def hear(self, spent: Spent) -> None:
        """Report the increase to the account, given the total so far; outdated messages are ignored."""
        before = self._told
        if spent.tokens < before.tokens or spent.calls < before.calls:
            return
        self._told = spent
        for role, usage in spent.usage.items():
            told = before.usage.get(role, Usage())
            more = Usage(usage.input - told.input, usage.output - told.output, usage.cached - told.cached)
            if more != Usage():
                self._account.spend(role, more)
        for _ in range(spent.calls - before.calls):
            self._account.call()


MakeWorker: TypeAlias = Callable[[RateLimiters], AbstractAsyncContextManager[Execute]]

NEEDS = "every node needs misstep, the agent's files and packages, and its keys in the environment"


class RayWorker:
    """A Ray actor with one agent for its lifetime; runs as many concurrent cases as it is given."""

    def __init__(self, make: bytes, actor: Any, name: str, home: str) -> None:
        self._make = make
        self._rate_limiters = actor_rate_limiters(actor, name)
        self._tallies = dict[int, UsageCounter]()
        self._told = dict[int, Spent]()  # by case, what was last reported of it
        self._work = dict[int, asyncio.Future[Outcome]]()
        self._stopped = set[int]()
        with suppress(OSError):  # file names are relative to the driver's folder, if it exists here
            os.chdir(home)

    async def prepare(self) -> bytes:
        """Empty once the agent is ready, else the encoded failure."""
        self._over = asyncio.Event()
        self._ready: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live())
        return await self._ready

    async def _live(self) -> None:
        """Open and close the agent in one task, because some resources can't be closed in another."""
        try:
            make: MakeWorker = pickle.loads(self._make)
            async with make(self._rate_limiters) as self._execute:
                self._ready.set_result(b"")
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_result(msgspec.json.encode(failure_of(error, NEEDS)))

    async def execute(self, ticket: int, case: bytes) -> bytes:
        tally = self._tallies[ticket] = UsageCounter()
        self._told[ticket] = tally.spent
        work = asyncio.ensure_future(self._execute(msgspec.json.decode(case, type=Case), tally))
        self._work[ticket] = work
        if ticket in self._stopped:
            work.cancel()
        try:
            outcome = await work
            ended = Ended(tally.spent, outcome)
        except asyncio.CancelledError:
            ended = Ended(tally.spent)
        except BaseException as error:
            ended = Ended(tally.spent, failure=failure_of(error))
        finally:
            del self._tallies[ticket], self._told[ticket], self._work[ticket]
            self._stopped.discard(ticket)
        return msgspec.json.encode(ended)

    async def stop(self, ticket: int) -> None:
        """Cancel a case, even one that has not arrived yet: messages may arrive out of order."""
        if ticket in self._work:
            self._work[ticket].cancel()
        else:
            self._stopped.add(ticket)

    async def news(self, pause: float) -> bytes:
        """After a pause, the total usage of each case that has used more since the last call."""
        await asyncio.sleep(pause)
        spent = {ticket: tally.spent for ticket, tally in self._tallies.items()}
        news = {ticket: each for ticket, each in spent.items() if each is not self._told[ticket]}
        self._told |= news
        return msgspec.json.encode(news)

    async def close(self) -> None:
        self._over.set()
        await asyncio.wait([self._life])
