"""Finds the case that a proxied request belongs to, and records the replies of its model."""

import contextlib
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain, pairwise
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
    """An open case. `key` is the part of an address that leads only to this case."""

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
        """Whether the model replied without being offered tools, so that its calls are in its text."""
        return self.turns > 0 and not self._offers_tools

    @property
    def is_open(self) -> bool:
        return self._toolbox is not None

    def close(self) -> None:
        self._toolbox = None

    def refusal(self) -> str:
        """Why the model must not be asked again, as a message for the agent; empty if it may be."""
        toolbox = self._toolbox
        if toolbox is None:
            return CASE_OVER
        if self.turns < toolbox.max_steps:
            return ""
        with contextlib.suppress(StepsExhausted):
            toolbox.begin_turn()  # the toolbox has to know that the agent tries to exceed its turns
        return LIMIT_REACHED

    def record(self, turn: ModelTurn, request: Any, redact: Redactor, heard: bool = True) -> None:
        """Record a reply to a request unless it was recorded before. Raises `StepsExhausted` at the limit."""
        toolbox = self._toolbox
        if toolbox is None or turn.key in self._recorded:
            return
        toolbox.spend(turn.usage)
        if not heard:  # the client did not wait for it, so its calls don't count
            return
        self._recorded |= {turn.key} - {""}
        if turn.counts:
            offered = _offered(request) | _offered(turn.reply)
            self._offers_tools = self._offers_tools or bool(offered)
            self.turns += 1
            number = toolbox.begin_turn()
            for call in turn.calls:
                name = self._own_name(call.name, offered) if call.name in offered else call.name
                if name is not None:
                    toolbox.ask(redact(name), redact.within(read_arguments(call.arguments)), number)
        toolbox.note(redact.within({"request": request, "reply": turn.reply}))

    def _own_name(self, name: str, offered: set[str]) -> str | None:
        """The tool for a name that was offered to the model; None for the framework's own tools."""
        if name in self._names:
            return name
        # Frameworks add prefixes to names, and replace characters that a server does not accept.
        disguised = self._names - offered
        fitting = [own for own in disguised if f"_{_plain(name)}".endswith(f"_{_plain(own)}")]
        return max(fitting, key=len, default=None)


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "_", name)


def _offered(body: Any) -> set[str]:
    """The names of tools that a request offers or a reply repeats."""
    if not isinstance(body, dict):
        return set()
    names = set[str]()
    lists = [each for each in (body.get("tools"), body.get("functions")) if isinstance(each, list)]
    for tool in chain.from_iterable(lists):
        match tool:
            case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}} | {"name": str(name)}:
                names.add(name)
    return names - {""}


REMEMBERED = 50_000
CALL_NAMES = {"call_id", "tool_call_id", "tool_use_id"}
ID_NAMES = {"id", "previous_response_id", "thread_id", "conversation"} | CALL_NAMES
ID_PLACES = ("threads", "runs", "responses", "conversations")
BETWEEN = "\0"  # separator that occurs in no text


class CaseTraces(msgspec.Struct, frozen=True):
    """What may identify the case of a request: all texts in its body as one, and all ids in body and path."""

    text: str
    ids: tuple[str, ...]
    calls: frozenset[str]  # ids of calls whose results it contains


def traces_of(path: str, body: Any) -> CaseTraces:
    named = list(_strings(body))
    steps = pairwise(path.strip("/").split("/"))
    ids = [part for before, part in steps if before in ID_PLACES and part not in ID_PLACES]
    ids += [value for name, value in named if name in ID_NAMES]
    calls = frozenset(value for name, value in named if name in CALL_NAMES)
    return CaseTraces(_normal(BETWEEN.join([value for _, value in named])), tuple(ids), calls)


class Attribution:
    """The open cases; thread-safe.

    A request belongs to the open case whose text it repeats, the longest if there are several. If it repeats
    none, or several cases have the same text, ids decide: those of earlier replies, and those that came with
    the text. An id that occurred in two open cases is ignored.
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
                # A text may occur in another plain, or quoted in JSON.
                quoted = msgspec.json.encode(storable(link.request)).decode()[1:-1]
                self._words[link] = tuple({_normal(link.request), _normal(quoted)} - {""})

    def close(self, link: OpenCase) -> None:
        with self._lock:
            self._links.pop(link.key, None)
            self._words.pop(link, None)
            link.close()

    def at(self, key: str) -> OpenCase | None:
        return self._links.get(key)

    def find(self, traces: CaseTraces) -> OpenCase | None:
        """The case of a request, which may have ended already."""
        with self._lock:
            worded = self._worded(traces.text)
            named = self._named(traces, not worded)
        if named and (not worded or any(link.request == named.request for link in worded)):
            return named
        return worded[0] if len(worded) == 1 else None

    def _named(self, traces: CaseTraces, nothing_else: bool) -> OpenCase | None:
        """The case that an id leads to. A thread may serve several cases, a call belongs to one."""
        for id in traces.ids:
            link = self._ids.get(id)
            if link and (link.is_open or id in traces.calls or nothing_else):
                return link
        return None

    def _worded(self, text: str) -> list[OpenCase]:
        """The cases with the longest text among those that occur in this one."""
        found = [link for link, forms in self._words.items() if any(form in text for form in forms)]
        longest = max((len(link.request) for link in found), default=0)
        return [link for link in found if len(link.request) == longest]

    def learn(self, link: OpenCase, path: str, body: Any) -> None:
        """Remember the ids in a request or reply of a case."""
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


def _normal(text: str) -> str:
    return " ".join(text.split())


def _strings(body: Any) -> Iterator[tuple[str, str]]:
    """All strings in a JSON value, each with its key."""
    waiting = [("", body)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
