"""The interface of a language model: messages in, replies and tool calls out; also prompt templates."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec

from misstep.core.agent import Meter, Tool
from misstep.core.outcome import Usage
from misstep.errors import MisstepError, UsageError, did_you_mean

PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Template(msgspec.Struct, frozen=True):
    """A text with placeholders such as `{{request}}`."""

    text: str

    def fill(self, **values: str) -> str:
        """The text with every placeholder replaced; placeholders inside the values are left alone."""
        return PLACE.sub(lambda match: values[match[1]], self.text)


def check_template(text: str, where: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """Parse a template. Raises `UsageError` for an unknown placeholder or a missing one."""
    places = PLACE.findall(text)
    for place in places:
        if place not in known:
            hint = f"known places: {', '.join(f'{{{{{name}}}}}' for name in known)}"
            raise UsageError(f"unknown place {{{{{place}}}}}", hint, did_you_mean(place, known), where=where)
    for place in needed:
        if place not in places:
            raise UsageError(
                f"it does not contain {{{{{place}}}}}", "put it where the value belongs", where=where
            )
    return Template(text)


def read_template(path: str) -> str:
    """Read the user's template file."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("can't be read", str(error), where=path) from error


def fenced(text: str) -> str:
    """Put untrusted text between two lines of dashes that don't occur in it, so that it can't end itself."""
    fence = "-" * 20
    while fence in text:
        fence += "-"
    return f"{fence}\n{text}\n{fence}"


class ToolCall(msgspec.Struct, frozen=True):
    """A call as the model wrote it; `arguments` is the raw text, valid JSON or not."""

    id: str
    name: str
    arguments: str


class System(msgspec.Struct, frozen=True, tag="system", tag_field="role"):
    text: str


class User(msgspec.Struct, frozen=True, tag="user", tag_field="role"):
    text: str


class Assistant(msgspec.Struct, frozen=True, tag="assistant", tag_field="role"):
    text: str
    calls: tuple[ToolCall, ...] = ()


class ToolResult(msgspec.Struct, frozen=True, tag="tool", tag_field="role"):
    """The result of the call with this id."""

    call: str
    text: str


Message: TypeAlias = System | User | Assistant | ToolResult


class Chat(msgspec.Struct, frozen=True):
    """A conversation so far, and the tools the model may call (several at a time if `parallel`).

    `form` is a JSON schema for the answer. Not every server enforces it, so callers also describe it in the
    prompt and check the reply.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    stop: tuple[str, ...] = ()
    parallel: bool = True
    form: dict[str, Any] | None = None


class Prompt(msgspec.Struct, frozen=True):
    """A text to be continued up to the first stop sequence."""

    text: str
    stop: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """What the model said; `id` names the reply if the server stores it.

    The tokens have already been reported to the meter; a cached reply has used none.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    id: str = ""


class LanguageModel(Protocol):
    """A model behind some interface. One object serves many concurrent conversations, all on one event loop.

    A request that fails for good raises `ModelError`. Time spent waiting for a rate limit is reported to the
    meter.
    """

    @property
    def name(self) -> str:
        """`provider/model`."""

    async def chat(self, request: Chat, meter: Meter) -> Reply: ...

    async def complete(self, request: Prompt, meter: Meter) -> Reply: ...

    async def close(self) -> None: ...


class ResponseModel(LanguageModel, Protocol):
    """A model whose server stores the conversation: each request contains only what is new."""

    async def respond(self, request: Chat, earlier: str, meter: Meter) -> Reply:
        """Reply to what is new since the reply with the id `earlier`, which is empty at first."""


class Thread(Protocol):
    """A conversation stored on a server; it has to be closed, however it ends."""

    async def next(self, meter: Meter) -> Reply:
        """The assistant's next reply or tool calls."""

    async def submit(self, results: Sequence[ToolResult], meter: Meter) -> None: ...

    async def cancel(self, meter: Meter) -> None:
        """Stop the assistant and count the tokens it has used."""

    async def close(self) -> None: ...


class ThreadModel(LanguageModel, Protocol):
    """A model whose server runs the conversation."""

    def open_thread(self, request: Chat) -> Thread:
        """Create a thread; the conversation starts when its first reply is requested."""


class ModelError(MisstepError):
    """A model could not be reached or refused the request; never counted as the agent's failure."""


class Unavailable(ModelError):
    """A model is unavailable to every caller for now: no key, no quota, no server."""


class Late(ModelError):
    """A model did not answer within the time limit."""


class Unusable(ModelError):
    """A model gave no answer in the required format, even after being told what was wrong."""
