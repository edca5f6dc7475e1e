"""Finds the case that a request belongs to.

A case as the proxy sees it: the place where replies of its model are recorded.
"""

import contextlib
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from misstep.adapters.arguments import read_arguments
from misstep.adapters.proxy.turn import ModelTurn
from misstep.core.agent import StepsExhausted, Toolbox
from misstep.core.outcome import storable
from misstep.core.secrets import Redactor

LIMIT_REACHED = "misstep: the limit on turns was reached for this case."
CASE_OVER = "misstep: this case is over."


class OpenCase:
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

    def record(self, turn: ModelTurn, request: Any, redact: Redactor, heard: bool = True) -> None:
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

    def _begin_turn(self, toolbox: Toolbox, turn: ModelTurn, offered: set[str], redact: Redactor) -> None:
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


REMEMBERED = 50_000
CALL_NAMES = {"call_id", "tool_call_id", "tool_use_id"}
ID_NAMES = {"id", "previous_response_id", "thread_id", "conversation"} | CALL_NAMES
ID_PLACES = ("threads", "runs", "responses", "conversations")
BETWEEN = "\0"  # nothing is found across the border of two texts


class CaseTraces(msgspec.Struct, frozen=True):
    """What could tell the case of a request: all texts in its body, as one; all ids in body and path.

    `calls` are the ids of calls whose results it brings.
    """

    text: str
    ids: tuple[str, ...]
    calls: frozenset[str]


def traces_of(path: str, body: Any) -> CaseTraces:
    named = list(_strings(body))
    ids = _ids_in_path(path) + [value for name, value in named if name in ID_NAMES]
    calls = frozenset(value for name, value in named if name in CALL_NAMES)
    return CaseTraces(_normal(BETWEEN.join([value for _, value in named])), tuple(ids), calls)


class Attribution:
    """The open cases, from any thread.

    A request belongs to the open case whose words it repeats, the longest words if there are several. Where
    it repeats none, or more than one case has the same words, ids tell: those of earlier replies and those
    that came along with the words. An id that has turned up in two open cases tells nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._links = dict[str, OpenCase]()
        self._words = dict[OpenCase, tuple[str, ...]]()
        self._ids = OrderedDict[str, OpenCase | None]()

    def open(self, link: OpenCase, by_words: bool) -> None:
        with self._lock:
            self._links[link.key] = link
            if by_words:
                self._words[link] = _forms(link.request)

    def close(self, link: OpenCase) -> None:
        with self._lock:
            self._links.pop(link.key, None)
            self._words.pop(link, None)
            link.close()

    def at(self, key: str) -> OpenCase | None:
        """The open case with an address of its own."""
        return self._links.get(key)

    def find(self, traces: CaseTraces) -> OpenCase | None:
        """The case of a request; one that is over already if that's where it comes from."""
        with self._lock:
            worded = self._worded(traces.text)
            named = self._named(traces, not worded)
        if named and (not worded or any(link.request == named.request for link in worded)):
            return named
        return worded[0] if len(worded) == 1 else None

    def _named(self, traces: CaseTraces, nothing_else: bool) -> OpenCase | None:
        """The case that an id leads to. Threads may serve one case after the other; calls belong to one."""
        for id in traces.ids:
            link = self._ids.get(id)
            if link and (link.is_open or id in traces.calls or nothing_else):
                return link
        return None

    def _worded(self, text: str) -> list[OpenCase]:
        """The cases with the longest words among those that occur in a text."""
        found = [link for link, forms in self._words.items() if any(form in text for form in forms)]
        longest = max((len(link.request) for link in found), default=0)
        return [link for link in found if len(link.request) == longest]

    def learn(self, link: OpenCase, path: str, body: Any) -> None:
        """Remember the ids of a request or a reply that belongs to a case."""
        if link not in self._words:
            return
        ids = traces_of(path, body).ids
        with self._lock:
            for id in ids:
                known = self._ids.get(id, link)
                unclear = known is None or (known is not link and known.is_open)
                self._ids[id] = None if unclear else link
                self._ids.move_to_end(id)
            while len(self._ids) > REMEMBERED:
                self._ids.popitem(last=False)


def _forms(request: str) -> tuple[str, ...]:
    """A text as it may occur in another: as it is, and quoted in JSON."""
    quoted = msgspec.json.encode(storable(request)).decode()[1:-1]
    return tuple({_normal(request), _normal(quoted)} - {""})


def _normal(text: str) -> str:
    return " ".join(text.split())


def _ids_in_path(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return [part for before, part in pairwise(parts) if before in ID_PLACES and part not in ID_PLACES]


def _strings(body: Any) -> Iterator[tuple[str, str]]:
    """All strings in a JSON value, each with the name it goes by."""
    waiting = [("", body)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
