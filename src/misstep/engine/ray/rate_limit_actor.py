"""The rate limits of models, shared by all workers of a cluster."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from misstep.core.agent import Meter
from misstep.core.model import ModelError
from misstep.core.outcome import Usage
from misstep.core.spending import TURN, RateLimiter, RateLimiters, wait

Ticket: TypeAlias = tuple[str, int]  # a worker, and the number of its request
Model: TypeAlias = tuple[str, int, float | None]  # name, maximum concurrent requests, maximum per minute
Refusal: TypeAlias = tuple[float, float]  # when the request started, and the pause that the server asks for

NO_PLACE = -1.0


class RateLimitActor:
    """A Ray actor, one per run, that grants request slots to workers and reclaims those of lost workers."""

    def __init__(self, rate_limiters: RateLimiters) -> None:
        self._rate_limiters = rate_limiters
        self._places = dict[Ticket, asyncio.Task[None]]()
        self._gone = set[Ticket]()  # tickets released before they were requested: messages may be reordered

    async def enter(self, ticket: Ticket, model: Model) -> float:
        if ticket in self._gone:
            self._gone.discard(ticket)
            return NO_PLACE
        granted: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._places[ticket] = asyncio.create_task(_hold(self._rate_limiters(*model), granted))
        return await granted

    async def leave(self, ticket: Ticket, model: Model, served: int, refusals: Sequence[Refusal]) -> None:
        """Release a slot or stop waiting for it, and report how the model's server responded."""
        rate_limiter = self._rate_limiters(*model)
        for _ in range(served):
            rate_limiter.succeeded()
        for began, pause in refusals:
            rate_limiter.refused(began, pause)
        if ticket in self._places:
            self._places.pop(ticket).cancel()
        else:
            self._gone.add(ticket)

    async def forget(self, worker: str) -> None:
        """Release all slots of a lost worker, including those it waits for."""
        for ticket in [ticket for ticket in self._places if ticket[0] == worker]:
            self._places.pop(ticket).cancel()
        self._gone = {ticket for ticket in self._gone if ticket[0] != worker}


async def _hold(rate_limiter: RateLimiter, granted: "asyncio.Future[float]") -> None:
    """Hold a slot until cancelled; a caller that still waits then gets `NO_PLACE`."""
    try:
        async with rate_limiter.slot(_UNTOLD) as began:
            granted.set_result(began)
            await asyncio.Event().wait()
    finally:
        if not granted.done():
            granted.set_result(NO_PLACE)


class _Untold:
    """A meter that ignores waits, because the worker reports them to its case."""

    def spend(self, usage: Usage) -> None:
        pass

    def wait(self, seconds: float) -> None:
        pass


_UNTOLD = _Untold()


def actor_rate_limiters(actor: Any, worker: str) -> RateLimiters:
    """The rate limiters of one worker, which use the actor; the limits given first apply."""
    tickets = zip(itertools.repeat(worker), itertools.count())
    known = dict[str, RateLimiter]()

    def find(model: str, in_flight: int, per_minute: float | None) -> RateLimiter:
        if model not in known:
            known[model] = _ActorRateLimiter(actor, (model, in_flight, per_minute), tickets)
        return known[model]

    return find


class _ActorRateLimiter:
    """Sends two messages per request: one to get a slot, one to release it and report the result."""

    def __init__(self, actor: Any, model: Model, tickets: Iterator[Ticket]) -> None:
        self._actor = actor
        self._model = model
        self._tickets = tickets
        self._served = 0
        self._refusals = list[Refusal]()

    @asynccontextmanager
    async def slot(self, meter: Meter) -> AsyncIterator[float]:
        ticket = next(self._tickets)
        try:
            yield await self._enter(ticket, meter)
        finally:
            self._actor.leave.remote(ticket, self._model, self._served, self._refusals)
            self._served, self._refusals = 0, []

    def refused(self, began: float, pause: float) -> None:
        self._refusals.append((began, pause))

    def succeeded(self) -> None:
        self._served += 1

    async def _enter(self, ticket: Ticket, meter: Meter) -> float:
        entering = asyncio.ensure_future(self._actor.enter.remote(ticket, self._model))
        entered = asyncio.Event()
        entering.add_done_callback(lambda _: entered.set())
        try:
            while not entering.done():
                await wait(TURN, meter, entered)
            if (began := float(entering.result())) == NO_PLACE:
                raise ModelError("the cluster no longer knows this worker")
            return began
        finally:
            entering.cancel()
