"""Agents whose model is watched by the recording proxy."""

import asyncio
import contextlib
import itertools
import weakref
from collections.abc import AsyncIterator, Sequence
from typing import Any

from misstep.adapters.addresses import current_base_url
from misstep.adapters.proxy.links import Link
from misstep.adapters.proxy.server import RecordingProxy
from misstep.core.agent import Agent, Answer, Assignment, Closing, Tool, Toolbox
from misstep.core.transcript import Usage

PATIENCE = 1.0  # seconds by which a case in a queue puts its time limit off, again and again


class ProxiedAgent:
    """Runs an agent while the proxy records what its model asks for.

    Requests tell their case by its words, so that cases with the same words run one after the other. Where
    the agent takes the address of each case from `current_base_url`, `by_address` lets them run side by side.
    """

    def __init__(self, agent: Agent, proxy: RecordingProxy, by_address: bool = False) -> None:
        self.name = agent.name
        self._agent = agent
        self._proxy = proxy
        self._by_address = by_address
        self._queues = weakref.WeakValueDictionary[str, asyncio.Lock]()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        await self._proxy.start()
        async with self._alone(assignment.request, toolbox):
            with self._proxy.open(assignment.request, toolbox, not self._by_address) as link:
                before = current_base_url.set(self._proxy.url_for(link.key))
                try:
                    return await self._agent.run(assignment, _Watched(toolbox, link))
                finally:
                    current_base_url.reset(before)

    async def close(self) -> None:
        try:
            if isinstance(self._agent, Closing):
                await self._agent.close()
        finally:
            await self._proxy.close()

    @contextlib.asynccontextmanager
    async def _alone(self, request: str, toolbox: Toolbox) -> AsyncIterator[None]:
        """While no other case with these words runs. The time in the queue is none of the agent's."""
        if self._by_address:
            yield
            return
        queue = self._queues.setdefault(" ".join(request.split()), asyncio.Lock())
        await _acquire(queue, toolbox)
        try:
            yield
        finally:
            queue.release()


async def _acquire(queue: asyncio.Lock, toolbox: Toolbox) -> None:
    acquired = False
    while not acquired:
        if queue.locked():
            toolbox.wait(PATIENCE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                acquired = await queue.acquire()


class _Watched:
    """The toolbox of an agent whose model the proxy listens to, and knows better what it said."""

    def __init__(self, toolbox: Toolbox, link: Link) -> None:
        self._toolbox = toolbox
        self._link = link
        self._turns = itertools.count(1)

    @property
    def tools(self) -> Sequence[Tool]:
        return self._toolbox.tools

    @property
    def max_steps(self) -> int:
        return self._toolbox.max_steps

    def begin_turn(self) -> int:
        """A number that counts for nothing."""
        return next(self._turns)

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:  # noqa: ARG002
        """Calls in the words of a model are for the agent to find."""
        if self._link.speaks_plainly:
            self._toolbox.ask(name, arguments)

    def misread(self) -> None:
        if self._link.speaks_plainly:
            self._toolbox.misread()

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:  # noqa: ARG002
        """The agent's own count of turns is not the proxy's, so it is left out."""
        return self._toolbox.call(name, arguments)

    def spend(self, usage: Usage) -> None:
        """The proxy has counted the tokens."""

    def wait(self, seconds: float) -> None:
        self._toolbox.wait(seconds)

    def note(self, message: Any) -> None:
        """The proxy has kept the message."""
