"""Tools with which nothing happens, to see which calls an agent would make."""

import json
from collections.abc import Sequence
from typing import Any

from misstep.core.agent import Tool
from misstep.core.ruling import Judged
from misstep.core.trial import Use

DONE = "Done."


class Rehearsal:
    """Tells that every call is done; it is a `World`. `uses` are the calls made so far."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self.uses = list[Use]()

    def answer(self, name: str, arguments: Any) -> str:
        if name not in [tool.name for tool in self.tools]:
            return f"Error: there is no tool '{name}'."
        self.uses.append(Use(name, json.dumps(arguments), DONE, Judged("fine")))
        return DONE

    def renewed(self) -> "Rehearsal":
        self.uses.clear()
        return self
