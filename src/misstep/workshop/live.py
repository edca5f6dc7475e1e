"""The real tools as the world of an agent under test."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from misstep.core.agent import Tool
from misstep.core.ruling import Judged
from misstep.core.tool import Described, Invocation, Probe, Reaction
from misstep.core.trial import Use
from misstep.core.words import ANSWER, cut
from misstep.tooling.judging.court import judge_calls_of
from misstep.tooling.workbench import Workbench

NOT_AN_OBJECT = "Error: the arguments of a call are a JSON object."
STOPPED = "Error: the tool is not available any more."


class LiveTools:
    """Tools of a process, called where they are safe; it is a `World`. `uses` are the calls made so far.

    `grant` is asked before each call whether it may be made. Once one was not made, it `is_stopped`.
    """

    def __init__(
        self, process: Workbench, names: Sequence[str] = (), grant: Callable[[], bool] = lambda: True
    ) -> None:
        self._process = process
        self._offered = [each for each in process.tools if not names or each.name in names]
        self._judge: Callable[[Invocation, Reaction], Judged] = judge_calls_of(self._offered)
        self._grant = grant
        self.uses = list[Use]()
        self.is_stopped = False

    @property
    def tools(self) -> Sequence[Tool]:
        return [described.tool for described in self._offered]

    @property
    def described(self) -> Sequence[Described]:
        return self._offered

    def answer(self, name: str, arguments: Any) -> str:
        """What an agent is told: the result, or the error by its name, as frameworks do."""
        if name not in [described.name for described in self._offered]:
            return f"Error: there is no tool '{name}'."
        if not isinstance(arguments, dict):
            return NOT_AN_OBJECT
        invocation = Invocation(name, json.dumps(arguments))
        reactions = list(self._process.run([Probe(invocation)])) if self._grant() else []
        if not reactions:
            self.is_stopped = True
            return STOPPED
        reaction = reactions[0]
        said = cut(_told(reaction), ANSWER)
        self.uses.append(Use(name, invocation.arguments, said, self._judge(invocation, reaction)))
        return said

    def renewed(self) -> "LiveTools":
        """The same tools from a fresh start; what was used before is forgotten."""
        self._process.reset()
        self.uses.clear()
        return self


def _told(reaction: Reaction) -> str:
    if reaction.raised is not None and reaction.ended == "raised":
        return f"Error: {reaction.raised.kind}: {reaction.raised.message}"
    if reaction.ended == "returned":
        return reaction.text
    return f"Error: {reaction.detail or reaction.ended}"
