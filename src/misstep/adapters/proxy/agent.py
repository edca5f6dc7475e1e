"""Agents whose model is watched by the recording proxy."""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from misstep.adapters.processes import current_addresses
from misstep.adapters.proxy.cases import OpenCase
from misstep.adapters.proxy.server import RecordingProxy
from misstep.core.agent import Agent, Answer, Assignment, Closing, Tool, Toolbox
from misstep.core.outcome import Usage

PATIENCE = 1.0  # seconds by which a case in a queue puts its time limit off, again and again


def for_openai(address: str) -> dict[str, str]:
    """What points OpenAI's clients at an address; some frameworks still go by the older name."""
    return {"OPENAI_BASE_URL": address, "OPENAI_API_BASE": address}


def for_anthropic(address: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": address.removesuffix("/v1")}


class ProxiedAgent:
    """Runs an agent while the proxy records what its model asks for.

    Requests tell their case by its words, so that cases with the same words run one after the other. Where
    the agent takes the address of each case from `current_addresses`, `by_address` lets them run side by
    side. `variables` gives what points a client at an address.
    """

    def __init__(
        self,
        agent: Agent,
        proxy: RecordingProxy,
        by_address: bool = False,
        variables: Callable[[str], Mapping[str, str]] = for_openai,
    ) -> None:
        self.name = agent.name
        self._variables = variables
        self._agent = agent
        self._proxy = proxy
        self._by_address = by_address
        self._queues = weakref.WeakValueDictionary[str, asyncio.Lock]()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        await self._proxy.start()
        async with self._alone(assignment.request, toolbox):
            with self._proxy.open(assignment.request, toolbox, not self._by_address) as link:
                before = current_addresses.set(self._variables(self._proxy.url_for(link.key)))
                try:
                    return await self._agent.run(assignment, _Watched(toolbox, link))
                finally:
                    current_addresses.reset(before)

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
    """The toolbox of an agent whose model the proxy listens to, and knows better what it said.

    Until the proxy has heard a reply the agent is believed: it may not use the proxy at all.
    """

    def __init__(self, toolbox: Toolbox, link: OpenCase) -> None:
        self._toolbox = toolbox
        self._link = link
        self._turns = 0

    @property
    def tools(self) -> Sequence[Tool]:
        return self._toolbox.tools

    @property
    def max_steps(self) -> int:
        return self._toolbox.max_steps

    def begin_turn(self) -> int:
        """A number that counts for nothing, unless the proxy hears nothing or agrees that it is too high."""
        self._turns += 1
        unheard = self._turns > 1 and self._link.turns == 0
        if unheard or (self._turns > self.max_steps and self._link.turns >= self.max_steps):
            self._toolbox.begin_turn()
        return self._turns

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:  # noqa: ARG002
        """Calls in the words of a model are for the agent to find."""
        if self._is_believed:
            self._toolbox.ask(name, arguments)

    def misread(self) -> None:
        if self._is_believed:
            self._toolbox.misread()

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:  # noqa: ARG002
        """The agent's own count of turns is not the proxy's, so it is left out."""
        return self._toolbox.call(name, arguments)

    def spend(self, usage: Usage) -> None:
        """What the proxy has heard it has counted."""
        if self._link.turns == 0:
            self._toolbox.spend(usage)

    def wait(self, seconds: float) -> None:
        self._toolbox.wait(seconds)

    def note(self, message: Any) -> None:
        """What the proxy has heard it has kept."""
        if self._link.turns == 0:
            self._toolbox.note(message)

    def warn(self, text: str) -> None:
        self._toolbox.warn(text)

    @property
    def _is_believed(self) -> bool:
        return self._link.turns == 0 or self._link.speaks_plainly
