"""What a reply of a model says, whatever the protocol it came in."""

import json
from typing import Any

import msgspec

from misstep.core.transcript import Usage


class Asked(msgspec.Struct, frozen=True):
    """A call as the model wrote it; `arguments` are the text it gave, or JSON where the protocol has that."""

    name: str
    arguments: Any


class Turn(msgspec.Struct, frozen=True):
    """One reply of a model.

    `key` names a reply that can be fetched more than once. `counts` is False where the model did not get to
    say anything, yet used tokens.
    """

    reply: Any
    calls: tuple[Asked, ...] = ()
    usage: Usage = Usage()
    key: str = ""
    counts: bool = True


def decode(raw: bytes | str) -> Any:
    """What a JSON text means; None for anything else."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_leniently(raw)


def _decode_leniently(raw: bytes | str) -> Any:
    """The same with halves of surrogate pairs and numbers out of range, which clients let pass."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def tokens(usage: Any) -> Usage:
    """Tokens as OpenAI's protocols count them, under either of their names; none where they aren't told."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    return Usage(
        number(usage.get("prompt_tokens")) or number(usage.get("input_tokens")),
        number(usage.get("completion_tokens")) or number(usage.get("output_tokens")),
        number(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def number(value: Any) -> int:
    """A count; nothing that can't be one."""
    return value if type(value) is int and value > 0 else 0
