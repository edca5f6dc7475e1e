"""A case as the proxy sees it: the place where replies of its model are recorded."""

import contextlib
import re
import secrets
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.proxy.reading.turn import Turn
from misstep.core.agent import StepsExhausted, Toolbox
from misstep.core.secrets import Redactor

LIMIT_REACHED = "misstep: the limit on turns was reached for this case."
CASE_OVER = "misstep: this case is over."


class Link:
    """An open case. `key` is the part of an address that leads to it and nowhere else."""

    def __init__(self, request: str, toolbox: Toolbox) -> None:
        self.key = secrets.token_urlsafe(16)
        self.request = request
        self.turns = 0
        self._names = {tool.name for tool in toolbox.tools}
        self._toolbox: Toolbox | None = toolbox
        self._recorded = set[str]()
        self._offers_tools = False

    @property
    def speaks_plainly(self) -> bool:
        """Whether the model has spoken without being offered tools, so that its calls are in its words."""
        return self.turns > 0 and not self._offers_tools

    @property
    def is_open(self) -> bool:
        return self._toolbox is not None

    def close(self) -> None:
        self._toolbox = None

    def refusal(self) -> str:
        """Why the model must not be asked again, in words for the agent; nothing if it may."""
        toolbox = self._toolbox
        if toolbox is None:
            return CASE_OVER
        if self.turns < toolbox.max_steps:
            return ""
        with contextlib.suppress(StepsExhausted):
            toolbox.begin_turn()  # the agent tries to go on past its last turn, which the toolbox has to know
        return LIMIT_REACHED

    def record(self, turn: Turn, request: Any, redact: Redactor, heard: bool = True) -> None:
        """Record a reply to a request, unless it has been already. Raises `StepsExhausted` past the limit.

        A reply that its client did not wait for costs its tokens; its calls go with it.
        """
        toolbox = self._toolbox
        if toolbox is None or turn.key in self._recorded:
            return
        toolbox.spend(turn.usage)
        if not heard:
            return
        self._recorded |= {turn.key} - {""}
        if turn.counts:
            self._begin_turn(toolbox, turn, _offered(request) | _offered(turn.reply), redact)
        toolbox.note(redact.within({"request": request, "reply": turn.reply}))

    def _begin_turn(self, toolbox: Toolbox, turn: Turn, offered: set[str], redact: Redactor) -> None:
        self._offers_tools = self._offers_tools or bool(offered)
        self.turns += 1
        number = toolbox.begin_turn()
        for call in turn.calls:
            name = self._own_name(call.name, offered) if call.name in offered else call.name
            if name is not None:
                toolbox.ask(redact(name), redact.within(read_arguments(call.arguments)), number)

    def _own_name(self, name: str, offered: set[str]) -> str | None:
        """The tool behind a name that was offered to the model; None for tools that a framework brings along.

        Frameworks put words before names, and other signs for those that a server doesn't take.
        """
        if name in self._names:
            return name
        disguised = self._names - offered
        fitting = [own for own in disguised if f"_{_plain(name)}".endswith(f"_{_plain(own)}")]
        return max(fitting, key=len, default=None)


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "_", name)


def _offered(body: Any) -> set[str]:
    """The names of the tools that a request offers or a reply repeats."""
    if not isinstance(body, dict):
        return set()
    lists = [each for each in (body.get("tools"), body.get("functions")) if isinstance(each, list)]
    return {name for tools in lists for tool in tools if (name := _name(tool))}


def _name(tool: Any) -> str:
    match tool:
        case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}} | {"name": str(name)}:
            return name
    return ""
