"""What a language model is, seen from an agent: it reads, replies, asks for tools.

Texts with places to be filled, such as the words that are put to models.
"""

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
    """A text with places such as `{{request}}`."""

    text: str

    def fill(self, **values: str) -> str:
        """The text with every place filled; what is filled in is not looked into again."""
        return PLACE.sub(lambda match: values[match[1]], self.text)


def check_template(text: str, where: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """The template in a text. A `UsageError` for a place that nobody fills, and for one that is missing."""
    places = PLACE.findall(text)
    for place in places:
        if place not in known:
            hint = f"known places: {', '.join(f'{{{{{name}}}}}' for name in known)}"
            raise UsageError(f"unknown place {{{{{place}}}}}", hint, did_you_mean(place, known), where=where)
    for place in needed:
        if place not in places:
            raise UsageError(f"there is no {{{{{place}}}}} in it", "say where it is to stand", where=where)
    return Template(text)


def read_template(path: str) -> str:
    """The text of a template of the user's own."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("can't be read", str(error), where=path) from error


def fenced(text: str) -> str:
    """Text from outside between two lines that are not in it, so that it can't end itself."""
    fence = "-" * 20
    while fence in text:
        fence += "-"
    return f"{fence}\n{text}\n{fence}"


class ToolCall(msgspec.Struct, frozen=True):
    """A call as the model wrote it; `arguments` is the text it gave, JSON or not."""

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
    """A conversation so far, and the tools the model may ask for, several at a time if `parallel`.

    `form` is a JSON schema that the answer is to keep to. Not every server holds its model to one, so whoever
    asks says it in words too, and looks at what comes back.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    stop: tuple[str, ...] = ()
    parallel: bool = True
    form: dict[str, Any] | None = None


class Prompt(msgspec.Struct, frozen=True):
    """A text to be continued up to the first of the stops."""

    text: str
    stop: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """What the model said; `id` names the reply where a server remembers it.

    The tokens have been told to the meter already; a reply out of a cache has used none.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    id: str = ""


class LanguageModel(Protocol):
    """A model behind some interface. One object serves many conversations at once, all on one event loop.

    A request that fails for good raises `ModelError`. Waiting for a rate limit is told to the meter.
    """

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    async def chat(self, request: Chat, meter: Meter) -> Reply: ...

    async def complete(self, request: Prompt, meter: Meter) -> Reply: ...

    async def close(self) -> None: ...


class ResponseModel(LanguageModel, Protocol):
    """A model whose server remembers: each request says only what is new."""

    async def respond(self, request: Chat, earlier: str, meter: Meter) -> Reply:
        """The reply to what is new since the reply with the id `earlier`, which is empty at first."""
        ...


class Thread(Protocol):
    """A conversation that a server keeps; it has to be closed, however it ends."""

    async def next(self, meter: Meter) -> Reply:
        """What the assistant wants or says next."""
        ...

    async def submit(self, results: Sequence[ToolResult], meter: Meter) -> None: ...

    async def cancel(self, meter: Meter) -> None:
        """Stop the assistant half-way, its tokens counted."""
        ...

    async def close(self) -> None: ...


class ThreadModel(LanguageModel, Protocol):
    """A model whose server runs the conversation."""

    def open_thread(self, request: Chat) -> Thread:
        """A thread for a conversation, which begins when its first reply is asked for."""
        ...


class ModelError(MisstepError):
    """A model could not be reached, or refused; never the agent's failure."""


class Unavailable(ModelError):
    """A model can't be had by anybody for the time being: no key, no quota, no server."""


class Late(ModelError):
    """A model gave no answer in the time that it was allowed."""


class Unusable(ModelError):
    """A model gave no answer in the form asked for, however often it was told what was wrong."""
