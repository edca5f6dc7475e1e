"""Anthropic's messages, for clients that speak that protocol."""

from typing import Any

from misstep.adapters.proxy.reading.events import Event
from misstep.adapters.proxy.reading.turn import Asked, Turn, number
from misstep.core.transcript import Usage


def read_message(body: Any) -> Turn | None:
    match body:
        case {"type": "message", "content": [*blocks]}:
            return Turn(body, _calls(blocks), _tokens(body.get("usage")))
    return None


def _calls(blocks: list[Any]) -> tuple[Asked, ...]:
    uses = [block for block in blocks if _is_call(block)]
    return tuple(Asked(str(use.get("name") or ""), use.get("input", "")) for use in uses)


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _tokens(usage: Any) -> Usage:
    """What went through the cache is not among `input_tokens` here."""
    if not isinstance(usage, dict):
        return Usage()
    cached = number(usage.get("cache_read_input_tokens"))
    fresh = number(usage.get("input_tokens")) + number(usage.get("cache_creation_input_tokens"))
    return Usage(fresh + cached, number(usage.get("output_tokens")), cached)


class MessageStream:
    """Blocks one after the other, each opened, grown, closed; tokens at the beginning and at the end."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._message: dict[str, Any] | None = None
        self._usage = dict[str, Any]()
        self._blocks = dict[Any, dict[str, Any]]()

    def feed(self, event: Event) -> None:
        match event.json:
            case {"type": "message_start", "message": dict(message)}:
                self._message = message
                self._count(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = block
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                self._grow(self._blocks.setdefault(index, {}), delta)
            case {"type": "content_block_stop", "index": int(index)}:
                self.holds = self.holds or _is_call(self._blocks.get(index))
            case {"type": "message_delta", **rest}:
                self.holds = True
                self._count(rest.get("usage"))
            case {"type": "message_stop"}:
                self.holds = self.ended = True
            case {"type": "error"}:
                self._message = None

    def _count(self, usage: Any) -> None:
        """Later counts include the earlier ones."""
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count is not None}

    def _grow(self, block: dict[str, Any], delta: dict[str, Any]) -> None:
        match delta:
            case {"partial_json": str(piece)}:
                written = block.get("input")
                block["input"] = (written if isinstance(written, str) else "") + piece
            case {"text": str(piece)}:
                block["text"] = str(block.get("text") or "") + piece

    def turn(self) -> Turn | None:
        if self._message is None:
            return None
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return read_message({**self._message, "type": "message", "content": blocks, "usage": self._usage})
