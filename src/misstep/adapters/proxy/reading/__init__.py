"""Reads what a model asked for, and what that cost, out of its replies: one file per protocol."""

from collections.abc import Callable
from typing import Any

import msgspec

from misstep.adapters.proxy.reading.chat import CompletionStream, read_completion
from misstep.adapters.proxy.reading.events import StreamReader
from misstep.adapters.proxy.reading.messages import MessageStream, read_message
from misstep.adapters.proxy.reading.responses import ResponseStream, read_response
from misstep.adapters.proxy.reading.runs import RunStream, read_run
from misstep.adapters.proxy.reading.turn import Turn


class Endpoint(msgspec.Struct, frozen=True):
    """How to read the replies of an endpoint.

    `speaks` is True where the model is to speak, rather than someone to look. `asks_usage` is True where the
    tokens of a stream are told only to those who ask.
    """

    read: Callable[[Any], Turn | None]
    stream: Callable[[], StreamReader]
    speaks: bool = True
    asks_usage: bool = False


COMPLETIONS = Endpoint(read_completion, CompletionStream, asks_usage=True)
MESSAGES = Endpoint(read_message, MessageStream)
RESPONSES = Endpoint(read_response, ResponseStream)


def endpoint_of(method: str, path: str) -> Endpoint | None:
    """The endpoint that a path ends in; None if nothing there is worth reading."""
    parts = path.strip("/").split("/")
    posts = method == "POST"
    if "threads" in parts or "conversations" in parts:
        speaks = posts and parts[-1] in ("runs", "submit_tool_outputs")
        return Endpoint(read_run, RunStream, speaks)
    match parts:
        case [*_, "completions"] if posts:
            return COMPLETIONS
        case [*_, "messages"] if posts:
            return MESSAGES
        case [*_, "responses"] if posts:
            return RESPONSES
        case [*_, "responses", _] if method == "GET":
            return Endpoint(read_response, ResponseStream, speaks=False)
    return None
