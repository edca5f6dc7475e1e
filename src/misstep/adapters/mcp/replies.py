"""Answers what a server asks our client during a call: for a model's text, for a form, for its folders.

Also decides which calls ask the server for reports of progress.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from misstep.adapters.mcp.entries import McpServer
from misstep.core.rng import Dice, derive_seed
from misstep.core.tool import with_markers
from misstep.errors import UsageError
from misstep.schemas.examples import make_up
from misstep.schemas.schema import fits
from misstep.schemas.shape import as_list, mapping

# What a model may write, and what a user may type: ordinary texts first.
TEXTS = (
    "Yes.",
    "The answer is 42.",
    "# Summary\n\n- first point\n- second point",
    '{"answer": 42, "reason": "because"}',
    "",
    " \t\n",
    "Größe: 5 µm 😀 \u202eabc",
    "'; DROP TABLE users; --",
    "word " * 2_000,
)
ORDINARY = 4
ODD = 0.25  # of all answers are unusual: a refusal, a strange text, a form with as little as possible
REJECTED = -1  # the code for a user who rejects the request


def wants_progress(name: str, arguments: Any) -> bool:
    """Whether a call asks for reports of progress, as about half do: some servers fail only then.

    This follows from the call as it is stored, so that a replay repeats it: ids that the server returned
    differ whenever it is started.
    """
    call = json.dumps([name, with_markers(arguments)], sort_keys=True)
    return derive_seed(0, "progress", call) % 2 == 0


class Replies:
    """The answers of one connection. They follow from the calls made so far, so that a replay gets the same.

    A call that is made again gets other answers.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._call = ""
        self._drawing: Dice | None = None  # made when it is needed, since few calls need it
        self._made = Counter[int]()  # calls, by their hash

    def begin(self, call: str) -> None:
        self._call, self._drawing = call, None
        self._made[hash(call)] += 1

    @property
    def _dice(self) -> Dice:
        if self._drawing is None:
            self._drawing = Dice(derive_seed(0, self._call) + self._made[hash(self._call)] - 1)
        return self._drawing

    def chance(self, probability: float) -> bool:
        return self._dice.chance(probability)

    async def sample(self, _context: Any, _params: Any) -> Any:
        from mcp.types import CreateMessageResult, ErrorData, TextContent

        if not self.chance(ODD):
            text, reason = self._dice.pick(TEXTS[:ORDINARY]), "endTurn"
        elif self.chance(ODD):
            return ErrorData(code=REJECTED, message="User rejected sampling request")
        else:
            text, reason = self._dice.pick(TEXTS), "maxTokens"
        content = TextContent(type="text", text=text)
        return CreateMessageResult(role="assistant", content=content, model="misstep", stop_reason=reason)

    async def elicit(self, _context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        is_odd = self.chance(ODD)
        if is_odd and self.chance(0.5):
            return ElicitResult(action=self._dice.pick(("decline", "cancel")))
        if params.mode == "url":
            return ElicitResult(action="accept")
        try:
            return ElicitResult(action="accept", content=self._filled(params.requested_schema, is_odd))
        except UsageError:  # a form that we can't fill in
            return ElicitResult(action="cancel")

    async def roots(self, _context: Any) -> Any:
        """The working directory of the server and the folders in its command."""
        from mcp.types import ListRootsResult, Root

        named = [word for word in self._server.command[1:] if os.path.isdir(word)]
        folders = dict.fromkeys(Path(each).resolve() for each in (self._server.folder or ".", *named))
        return ListRootsResult(roots=[Root(uri=each.as_uri(), name=each.name) for each in folders])

    def _filled(self, schema: Mapping[str, Any], is_odd: bool) -> dict[str, Any]:
        """A form with all fields, or with odd texts and only those that are required or have a default."""
        fields, required = mapping(schema.get("properties")), as_list(schema.get("required"))
        filled = [name for name in fields if "default" in mapping(fields[name])]
        wanted = [*required, *filled] if is_odd else list(fields)
        form = make_up({**schema, "required": wanted}, self._dice)
        for name, value in form.items() if is_odd else ():
            text = self._dice.pick(TEXTS)
            if isinstance(value, str) and fits(mapping(fields.get(name)), text) is None:
                form[name] = text
        return form
