"""The line to one model on one server: limits, patience, cache, tokens, whatever the SDK."""

import json
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import msgspec

from misstep.core.agent import Meter
from misstep.core.model import ModelError
from misstep.core.secrets import Redactor
from misstep.core.transcript import Usage
from misstep.errors import MissingExtra
from misstep.models.cache import ReplyCache
from misstep.models.patience import Patience, Trouble, retry_after
from misstep.models.providers import Endpoint, ModelName
from misstep.models.throttle import Throttle

CONNECT_SECONDS = 10.0
LONGEST_REQUEST = 3600.0  # the case's own limit is what counts
DISPENSABLE = ("temperature", "parallel_tool_calls", "stop")  # parameters that some models refuse

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True):
    """How a model is to be asked."""

    temperature: float | None = 0.0
    retries: int = 6
    in_flight: int = 16
    per_minute: float | None = None
    cache: str = ""


DEFAULTS = Options()


class Sdk(msgspec.Struct, frozen=True):
    """A client library: OpenAI's and Anthropic's are made alike, down to the names of their errors.

    `make` gives a client that does not retry: our own patience knows about the other cases. `unlisted` are
    parameters that its methods don't take and its server does.
    """

    package: str
    make: Callable[[Any, Endpoint], Any]
    unlisted: tuple[str, ...] = ()


class Line:
    def __init__(self, model: ModelName, endpoint: Endpoint, options: Options, sdk: Sdk) -> None:
        self.name = str(model)
        self._endpoint = endpoint
        self._sdk = sdk
        self._refused = set[str]()
        self._redact = Redactor([endpoint.key] if len(endpoint.key) > 4 else [])
        self._cache = ReplyCache(options.cache) if options.cache else None
        self._patience = Patience(options.retries, Throttle(options.in_flight, options.per_minute))
        self._client: Any = None

    @property
    def client(self) -> Any:
        """The SDK's client, made when it is first needed: on the loop that uses it."""
        if self._client is None:
            self._client = self._sdk.make(self._module, self._endpoint)
        return self._client

    async def ask(
        self, endpoint: str, parameters: Json, count: Callable[[Json], Usage], meter: Meter
    ) -> Json:
        """The body of the reply. Its tokens are told to the meter, unless it was in the cache."""
        whole = {"url": self._endpoint.base_url, "endpoint": endpoint, **parameters}
        kept = self._cache.get(whole) if self._cache else None
        if isinstance(kept, dict):
            return {**kept, "usage": None}
        body: Json = await self.persist(lambda: self._send(endpoint, parameters), meter)
        meter.spend(count(body))
        if self._cache:
            self._cache.put(whole, body)
        return body

    async def persist(self, send: Callable[[], Awaitable[Any]], meter: Meter) -> Any:
        """What the SDK answers, as plain data; its errors become `Trouble` or a `ModelError`."""
        sdk = self._module

        async def once() -> Any:
            try:
                answer = await send()
                return answer.to_dict(mode="json")
            except sdk.APIStatusError as error:
                raise self._status_error(error) from None
            except sdk.APIConnectionError as error:
                cause = f": {error.__cause__}" if error.__cause__ else ""
                raise Trouble(self._told(f"can't be reached{cause}")) from None
            except (json.JSONDecodeError, sdk.APIResponseValidationError, AttributeError) as error:
                raise Trouble(self._told(f"gave an answer that makes no sense: {error}")) from None

        return await self._patience.persist(once, meter)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _module(self) -> Any:
        try:
            return import_module(self._sdk.package)
        except ImportError:
            raise MissingExtra(f"the {self._sdk.package} SDK", self._sdk.package) from None

    async def _send(self, endpoint: str, parameters: Json) -> Any:
        """One request; a parameter that the model refuses is left out from then on."""
        resource = self.client
        for part in endpoint.split("."):
            resource = getattr(resource, part)
        refusals = (self._module.BadRequestError, self._module.UnprocessableEntityError)
        while True:
            allowed = {name: value for name, value in parameters.items() if name not in self._refused}
            extra = {name: allowed[name] for name in self._sdk.unlisted if name in allowed}
            listed = {name: value for name, value in allowed.items() if name not in extra}
            try:
                return await resource.create(**listed, extra_body=extra)
            except refusals as error:
                refused = _refused_parameter(error)
                if refused not in allowed:
                    raise
                self._refused.add(refused)

    def _status_error(self, error: Any) -> Exception:
        status, code = error.status_code, getattr(error, "code", None)
        told = self._told(f"answered {status}: {_reason(error)}")
        if status == 429 and code != "insufficient_quota":
            return Trouble(told, busy=True, retry_after=retry_after(error.response.headers))
        if status >= 500 or status in (408, 409):
            return Trouble(told, retry_after=retry_after(error.response.headers))
        return ModelError(told)

    def _told(self, text: str) -> str:
        return self._redact(f"{self.name} {text}")


def _reason(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error") if isinstance(body.get("error"), dict) else body
    return str((inner or {}).get("message") or error.message)[:500]


def _refused_parameter(error: Any) -> str:
    """The dispensable parameter that a refusal is about, if it is about one."""
    named = getattr(error, "param", None)
    if named in DISPENSABLE:
        return str(named)
    return next((name for name in DISPENSABLE if name in _reason(error)), "")
