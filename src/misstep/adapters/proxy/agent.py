"""The recording proxy between agents and their model, and agents whose model requests go through it."""

import asyncio
import contextlib
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from misstep.adapters.hosting import HOST, LoopbackServer
from misstep.adapters.processes import current_addresses
from misstep.adapters.proxy.cases import Attribution, OpenCase
from misstep.adapters.proxy.exchange import Relay
from misstep.adapters.proxy.upstream import Upstream
from misstep.adapters.threads import in_thread
from misstep.core.agent import Agent, Answer, Assignment, Closing, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import MissingExtra

PATIENCE = 1.0  # seconds by which a queued case repeatedly extends its time limit


class RecordingProxy:
    """Forwards requests of OpenAI's or Anthropic's clients to `upstream`, such as https://api.openai.com/v1.

    It runs in a separate thread, because agents may block the loop they run on. It listens on loopback only,
    at an address that cannot be guessed. A client's key is forwarded and not stored.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = Upstream(upstream)
        self._attribution = Attribution()
        self._relay = Relay(self._upstream, self._attribution)
        self._lock = threading.Lock()
        self._listener: LoopbackServer | None = None
        self.unseen = 0  # cases that closed without any model reply: the agent may not use `base_url`

    @property
    def base_url(self) -> str:
        """The address for all cases; requests are attributed to a case by their content."""
        return self.url_for(self._relay.key)

    def url_for(self, key: str) -> str:
        """The address of one case, by the key of its link."""
        if self._listener is None:
            raise RuntimeError("the recording proxy has not been started")
        return f"http://{HOST}:{self._listener.port}/{key}/v1"

    @property
    def unattributed(self) -> int:
        return self._relay.unattributed

    def check(self) -> None:
        if find_spec("httpx") is None or find_spec("uvicorn") is None:
            raise MissingExtra("the recording proxy", "proxy")

    async def start(self) -> None:
        if self._listener is None:
            await in_thread(self._launch)

    def _launch(self) -> None:
        with self._lock:
            if self._listener is None:
                self._upstream.connect()
                listener = LoopbackServer(self._relay, self._upstream.close)
                listener.start()
                self._listener = listener

    async def close(self) -> None:
        """Stop serving; outstanding requests get no response."""
        listener, self._listener = self._listener, None
        if listener is not None:
            await in_thread(listener.stop)

    @contextlib.contextmanager
    def open(self, request: str, toolbox: Toolbox, by_words: bool = True) -> Iterator[OpenCase]:
        """Record for a case while the block runs.

        With `by_words` its requests may use the common address, otherwise only the address of the case.
        """
        link = OpenCase(request, toolbox)
        self._attribution.open(link, by_words)
        try:
            yield link
        finally:
            self._attribution.close(link)
            self.unseen += link.turns == 0


def for_openai(address: str) -> dict[str, str]:
    """Variables that point OpenAI's clients to an address; some frameworks use the older name."""
    return {"OPENAI_BASE_URL": address, "OPENAI_API_BASE": address}


def for_anthropic(address: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": address.removesuffix("/v1")}


class ProxiedAgent:
    """Runs an agent while the proxy records what its model asks for.

    A request is attributed to its case by its text, so cases with the same text run one after the other. If
    the agent uses the address of each case from `current_addresses`, `by_address` lets them run concurrently.
    `variables` returns the environment variables that point a client to an address.
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
        """Wait until no other case with this text runs. Time in the queue does not count for the agent."""
        if self._by_address:
            yield
            return
        queue = self._queues.setdefault(" ".join(request.split()), asyncio.Lock())
        acquired = False
        while not acquired:
            if queue.locked():
                toolbox.wait(PATIENCE)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    acquired = await queue.acquire()
        try:
            yield
        finally:
            queue.release()


class _Watched:
    """The toolbox of an agent behind the proxy, which knows better what the model said.

    Until the proxy has seen a reply, the agent's reports are used: it may not use the proxy at all.
    """

    def __init__(self, toolbox: Toolbox, link: OpenCase) -> None:
        self._toolbox = toolbox
        self._link = link
        self._turns = 0
        self.max_steps = toolbox.max_steps
        self.wait = toolbox.wait
        self.warn = toolbox.warn

    @property
    def tools(self) -> Sequence[Tool]:
        return self._toolbox.tools

    def begin_turn(self) -> int:
        """The agent's own turn number; passed on only if the proxy sees nothing or is also past the limit."""
        self._turns += 1
        unheard = self._turns > 1 and self._link.turns == 0
        if unheard or (self._turns > self.max_steps and self._link.turns >= self.max_steps):
            self._toolbox.begin_turn()
        return self._turns

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:  # noqa: ARG002
        """Calls within the text of a reply can only be found by the agent."""
        if self._is_believed:
            self._toolbox.ask(name, arguments)

    def misread(self) -> None:
        if self._is_believed:
            self._toolbox.misread()

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:  # noqa: ARG002
        """The agent's turn number differs from the proxy's, so it is dropped."""
        return self._toolbox.call(name, arguments)

    def spend(self, usage: Usage) -> None:
        """Replies that the proxy has seen are already counted."""
        if self._link.turns == 0:
            self._toolbox.spend(usage)

    def note(self, message: Any) -> None:
        """Replies that the proxy has seen are already recorded."""
        if self._link.turns == 0:
            self._toolbox.note(message)

    @property
    def _is_believed(self) -> bool:
        return self._link.turns == 0 or self._link.speaks_plainly
