"""The proxy as a web application: finds out whose request it is, then passes it on."""

import secrets
from typing import Any

from misstep.adapters.proxy.attribution import Attribution, traces_of
from misstep.adapters.proxy.client import Client, Receive, Scope, Send
from misstep.adapters.proxy.exchange import Exchange, pass_on
from misstep.adapters.proxy.links import Link
from misstep.adapters.proxy.reading import endpoint_of
from misstep.adapters.proxy.reading.turn import decode
from misstep.adapters.proxy.upstream import Asking, Broken, Unreachable, Upstream


class Relay:
    """An ASGI application. `key` is the part of its address that others can't guess.

    `unattributed` counts replies of a model that belong to no open case, as far as one can tell.
    """

    def __init__(self, upstream: Upstream, attribution: Attribution) -> None:
        self.key = secrets.token_urlsafe(16)
        self.unattributed = 0
        self._upstream = upstream
        self._attribution = attribution

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = Client(scope, receive, send)
        path: str = scope["raw_path"].decode("ascii")
        key, _, rest = path.removeprefix("/").partition("/")
        version, _, place = rest.partition("/")
        link = self._attribution.at(key)
        if version != "v1" or not (link or secrets.compare_digest(key, self.key)):
            await client.refuse(404, "misstep: there is nothing here.")
            return
        query: str = scope["query_string"].decode("ascii")
        target = f"{place}?{query}" if query else place
        asking = Asking(scope["method"], target, scope["headers"], await client.body())
        if not client.gone:
            await client.serve(self._pass_on(asking, link, client))

    async def _pass_on(self, asking: Asking, link: Link | None, client: Client) -> None:
        try:
            await self._exchange(asking, link, client)
        except Unreachable as error:
            await client.refuse(502, f"misstep: {error}")
        except Broken:
            await client.drop()
        except Exception as error:  # ours: the case must say so, and the other cases go on
            if client.begun:
                await client.drop()
            else:
                await client.refuse(500, f"misstep: the recording proxy failed: {type(error).__name__}")

    async def _exchange(self, asking: Asking, link: Link | None, client: Client) -> None:
        request = decode(asking.body)
        link = link or self._find(asking, request)
        endpoint = endpoint_of(asking.method, asking.path)
        if endpoint is not None and link is not None:
            exchange = Exchange(asking, request, link, endpoint, self._attribution)
            await exchange.run(self._upstream, client)
            return
        async with self._upstream.ask(asking, asking.body) as reply:
            self.unattributed += endpoint is not None and endpoint.speaks and reply.succeeded
            await pass_on(reply, client)

    def _find(self, asking: Asking, request: Any) -> Link | None:
        link = self._attribution.find(traces_of(asking.path, request))
        if link is not None:
            self._attribution.learn(link, asking.path, request)
        return link
