"""Runs of the Assistants protocol, which clients look at again and again."""

from typing import Any

from misstep.adapters.proxy.reading.chat import asked
from misstep.adapters.proxy.reading.events import Event
from misstep.adapters.proxy.reading.turn import Turn, tokens


def read_run(body: Any) -> Turn | None:
    """What a run waits for or ended with. Its tokens are told when it is over, so never if nobody ends it."""
    match body:
        case {"object": "thread.run", "status": "requires_action", "required_action": dict(action)}:
            return _wanting(body, action)
        case {"object": "thread.run", "status": "completed" | "incomplete" as status}:
            return Turn(body, (), tokens(body.get("usage")), f"{body.get('id')} {status}")
        case {"object": "thread.run", "status": status, "usage": dict(usage)}:
            return Turn(body, (), tokens(usage), f"{body.get('id')} {status}", counts=False)
    return None


def _wanting(run: dict[str, Any], action: dict[str, Any]) -> Turn | None:
    match action:
        case {"submit_tool_outputs": {"tool_calls": [*listed]}}:
            calls = [call for call in listed if isinstance(call, dict)]
            key = " ".join(str(call.get("id")) for call in calls)
            return Turn(run, tuple(asked(call) for call in calls), key=f"{run.get('id')} {key}")
    return None


class RunStream:
    """Among other things, the run each time its status changes."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._turn: Turn | None = None

    def feed(self, event: Event) -> None:
        self._turn = read_run(event.json) or self._turn
        self.ended = self.ended or event.data.startswith("[DONE]")
        self.holds = self.holds or self.ended or self._turn is not None

    def turn(self) -> Turn | None:
        return self._turn
