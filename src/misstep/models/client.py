"""The client of one model on one server: limits, retries, reply cache and usage, for any SDK."""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from misstep.core.agent import Meter
from misstep.core.model import ModelError, Reply, Unavailable
from misstep.core.outcome import Usage, storable
from misstep.core.secrets import Redactor
from misstep.core.spending import RateLimiters
from misstep.errors import MissingExtra, UsageError
from misstep.models.providers import Endpoint, ModelName
from misstep.models.throttle import Throttles, Trouble, persist, retry_after


class ReplyCache:
    """One file per request in a folder; several processes may share it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError("the cache can't be created", reason, where=folder) from error

    def get(self, request: Any) -> Any:
        try:
            return msgspec.json.decode(self._path(request).read_bytes())
        except (OSError, ValueError):  # no such file, or invalid content
            return None

    def put(self, request: Any, reply: Any) -> None:
        """Store a reply; a failed write (such as a full disk) is ignored."""
        with suppress(OSError, ValueError):
            path, content = self._path(request), msgspec.json.encode(reply)
            path.parent.mkdir(exist_ok=True)
            _write(path, content)

    def _path(self, request: Any) -> Path:
        content = msgspec.json.encode(request, order="deterministic")
        name = hashlib.blake2b(content, digest_size=20).hexdigest()
        return self._folder / name[:2] / f"{name[2:]}.json"


def _write(path: Path, content: bytes) -> None:
    """Write atomically, even if other processes write the same file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


CONNECT_SECONDS = 10.0
LONGEST_REQUEST = 3600.0  # the case's own time limit applies
CLOSED = (401, 402, 403, 404, 429)  # whatever the request: no key, no money or quota, no such model
DISPENSABLE = ("temperature", "parallel_tool_calls", "stop", "response_format")  # some models refuse
REFUSAL = re.compile(
    r"support|permit|allow|recogni|unknown|deprecat|extra|unexpected|invalid|unavailable|must be",
    re.IGNORECASE,
)
REMEMBERING = ("/responses",)  # their replies belong to a conversation stored on the server

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True):
    temperature: float | None = 0.0
    retries: int = 6
    in_flight: int = 16
    per_minute: float | None = None
    cache: str = ""


DEFAULTS = Options()


class ModelClient:
    """Sends requests to a model, from one event loop; clients with the same `rate_limiters` share limits.

    `package` is the client library, `client_class` its asyncio class: OpenAI's and Anthropic's have the same
    structure, down to the names of errors.
    """

    package: ClassVar[str]
    client_class: ClassVar[str]

    def __init__(
        self,
        model: ModelName,
        endpoint: Endpoint,
        options: Options = DEFAULTS,
        rate_limiters: RateLimiters | None = None,
    ) -> None:
        if find_spec(self.package) is None:
            raise MissingExtra(f"the {self.package} SDK", self.package)
        _ = self._module  # loading it takes long, and is not the time of the first case
        self.name = str(model)
        self._model = model.model
        self._endpoint = endpoint
        self._temperature = options.temperature
        self._refused = set[str]()
        self._redact = Redactor([endpoint.key] if len(endpoint.key) > 4 else [])
        self._cache = ReplyCache(options.cache) if options.cache else None
        self._retries = options.retries
        self._rate_limiter = (rate_limiters or Throttles())(self.name, options.in_flight, options.per_minute)
        self._client: Any = None

    @property
    def client(self) -> Any:
        """The SDK's client, created on first use, on the event loop that uses it."""
        if self._client is None:
            sdk, endpoint = self._module, self._endpoint
            self._client = getattr(sdk, self.client_class)(
                base_url=endpoint.base_url,
                api_key=endpoint.key,
                max_retries=0,  # misstep's own retries take other cases into account
                timeout=sdk.Timeout(LONGEST_REQUEST, connect=CONNECT_SECONDS),
            )
        return self._client

    async def ask(self, path: str, parameters: Json, read: Callable[[Json], Reply], meter: Meter) -> Reply:
        """Ask the model. Tokens are reported to the meter, unless the reply was cached."""
        parameters = {**parameters, "model": self._model}
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        whole = {"url": self._endpoint.base_url, "endpoint": path, **parameters}
        cache = self._cache if path not in REMEMBERING else None
        kept = cache.get(whole) if cache else None
        if isinstance(kept, dict):
            return msgspec.structs.replace(read(kept), usage=Usage())
        body: Json = await self.persist(lambda: self._send(path, parameters), meter)
        reply = read(body)
        meter.spend(reply.usage)
        if cache:
            cache.put(whole, body)
        return reply

    async def persist(self, send: Callable[[], Awaitable[Any]], meter: Meter) -> Any:
        """The SDK's response as plain data; its errors become `Trouble` or a `ModelError`."""
        sdk = self._module

        async def once() -> Any:
            try:
                answer = await send()
            except sdk.APIStatusError as error:
                raise self._status_error(error) from None
            except sdk.APIConnectionError as error:
                cause = f": {error.__cause__}" if error.__cause__ else ""
                raise Trouble(self._told(f"can't be reached{cause}")) from None
            except (ValueError, RecursionError, sdk.APIResponseValidationError) as error:
                raise Trouble(self._told(f"sent an invalid answer: {error}")) from None
            if hasattr(answer, "to_dict"):
                return answer.to_dict(mode="json", warnings=False)
            if not isinstance(answer, dict):
                raise Trouble(self._told("sent an invalid answer: it is not a JSON object"))
            return answer

        return await persist(once, self._retries, self._rate_limiter, meter)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _module(self) -> Any:
        return import_module(self.package)

    async def _send(self, path: str, parameters: Json) -> Any:
        """Send one request; a parameter that the model refuses is left out from then on."""
        refusals = (self._module.BadRequestError, self._module.UnprocessableEntityError)
        while True:
            allowed = {name: value for name, value in parameters.items() if name not in self._refused}
            try:
                # The SDK's typed methods spend more time on validation than all the rest takes.
                return await self.client.post(path, body=allowed, cast_to=object)
            except refusals as error:
                refused = _refused_parameter(error)
                if refused not in allowed:
                    raise
                self._refused.add(refused)

    def _status_error(self, error: Any) -> Exception:
        status, code = error.status_code, getattr(error, "code", None)
        told = self._told(f"answered {status}: {_reason(error)}")
        busy = status == 429 and code != "insufficient_quota"
        if busy or status >= 500 or status in (408, 409):
            return Trouble(told, busy, retry_after(error.response.headers))
        return Unavailable(told) if status in CLOSED else ModelError(told)

    def _told(self, text: str) -> str:
        return self._redact(f"{self.name} {text}")


def _reason(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error") if isinstance(body.get("error"), dict) else body
    return str((inner or {}).get("message") or error.message)[:500]


def _refused_parameter(error: Any) -> str:
    """The optional parameter that an error is about, if any."""
    if (named := str(getattr(error, "param", None)).partition(".")[0]) in DISPENSABLE:
        return named
    reason = _reason(error)
    found = [name for name in DISPENSABLE if re.search(rf"\b{name}\b", reason)]
    return found[0] if found and REFUSAL.search(reason) else ""


def written(given: Any) -> str:
    """Arguments as text; some servers send them decoded, or not at all."""
    return storable(given) if isinstance(given, str) else json.dumps({} if given is None else given)


def count(given: Any) -> int:
    """A token count as a server reports it; anything that is not a number counts as 0."""
    try:
        return max(0, int(given or 0))
    except (TypeError, ValueError, OverflowError):
        return 0
