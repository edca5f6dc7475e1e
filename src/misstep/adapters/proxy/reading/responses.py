"""The Responses protocol, whose replies are lists of items."""

from typing import Any

from misstep.adapters.proxy.reading.events import Event
from misstep.adapters.proxy.reading.turn import Asked, Turn, tokens

SPOKEN = ("completed", "incomplete")
OVER = tuple(f"response.{status}" for status in (*SPOKEN, "failed", "cancelled"))
CALL_WRITTEN = ("response.function_call_arguments.done", "response.custom_tool_call_input.done")


def read_response(body: Any) -> Turn | None:
    """A response that is over; one that runs in the background is looked at until it is."""
    match body:
        case {"output": [*items], **rest}:
            status = rest.get("status") or "completed"
            usage, key = tokens(rest.get("usage")), f"{rest.get('id')}"
            if status in SPOKEN:
                return Turn(body, _calls(items), usage, key)
            if status in ("failed", "cancelled"):
                return Turn(body, (), usage, key, counts=False)
    return None


def _calls(items: list[Any]) -> tuple[Asked, ...]:
    return tuple(_asked(item) for item in items if _is_call(item))


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call")


def _asked(item: dict[str, Any]) -> Asked:
    given = item.get("arguments" if item["type"] == "function_call" else "input")
    return Asked(str(item.get("name") or ""), given)


class ResponseStream:
    """Items one after the other; the last event repeats all of them, or should."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._items = list[Any]()
        self._response: dict[str, Any] | None = None

    def feed(self, event: Event) -> None:
        match event.json:
            case {"type": "response.output_item.done", "item": item}:
                self._items.append(item)
                self.holds = self.holds or _is_call(item)
            case {"type": "response.created", "response": dict(response)}:
                self._response = {**response, "status": "completed"}
            case {"type": kind, "response": dict(response)} if kind in OVER:
                self._response = response
                self.holds = self.ended = True
            case {"type": kind} if kind in CALL_WRITTEN:
                self.holds = True
            case {"type": "error"}:
                self._response = None

    def turn(self) -> Turn | None:
        if self._response is None or not (self.ended or self._items):
            return None
        return read_response({**self._response, "output": self._response.get("output") or self._items})
