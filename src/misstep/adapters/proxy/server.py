"""The recording proxy between agents and their model: records what the model asks for."""

import contextlib
import threading
from collections.abc import Iterator

from misstep.adapters.hosting import HOST, LoopbackServer
from misstep.adapters.proxy.cases import Attribution, OpenCase
from misstep.adapters.proxy.exchange import Relay
from misstep.adapters.proxy.upstream import Upstream
from misstep.adapters.threads import in_thread
from misstep.core.agent import Toolbox


class RecordingProxy:
    """Forwards requests of OpenAI's or Anthropic's clients to `upstream`, such as https://api.openai.com/v1.

    It runs in a separate thread, because agents may block the loop they run on. It listens on loopback only,
    at an address that cannot be guessed. If a client sends no key, or a placeholder such as "EMPTY", `key` is
    used; any other key is forwarded and not stored.

    `unseen` counts the cases that closed without any model reply: the agent may not use `base_url`.
    """

    def __init__(self, upstream: str, key: str | None = None) -> None:
        self._upstream = Upstream(upstream, key)
        self._attribution = Attribution()
        self._relay = Relay(self._upstream, self._attribution)
        self._lock = threading.Lock()
        self._listener: LoopbackServer | None = None
        self.unseen = 0

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
        """The number of model replies that could not be attributed to an open case."""
        return self._relay.unattributed

    async def start(self) -> None:
        """Start serving, unless already started."""
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
