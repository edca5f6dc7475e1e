"""Lets an agent under test call the real tools, which may be spread over several processes."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from misstep.core.agent import Tool
from misstep.core.results.fuzzing import CodeReach
from misstep.core.results.trial import Judged, Use
from misstep.core.text import ANSWER, cut
from misstep.core.tool import Described, Invocation, Probe, Reaction
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.workbench import Workbench
from misstep.tool_host.host import ToolHost


class JoinedBench:
    """A `Workbench` that passes each call to the process that has the tool. Tool names must be unique."""

    def __init__(self, benches: Sequence[ToolHost]) -> None:
        self._benches = benches
        self._homes = {tool.name: bench for bench in benches for tool in bench.tools}

    def spec_of(self, tool: str) -> str:
        return self._homes[tool].spec_of(tool)

    @property
    def tools(self) -> Sequence[Described]:
        return [tool for bench in self._benches for tool in bench.tools]

    @property
    def files(self) -> Sequence[str]:
        return [file for bench in self._benches for file in bench.files]

    @property
    def starts_quickly(self) -> bool:
        return all([bench.starts_quickly for bench in self._benches])

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        for probe in probes:
            made = list(self._homes[probe.invocation.tool].run([probe], patience))
            if not made:
                return
            yield from made

    def reset(self) -> None:
        for bench in self._benches:
            bench.reset()

    def reach(self, tool: str) -> CodeReach | None:
        return self._homes[tool].reach(tool)


NOT_AN_OBJECT = "Error: the arguments must be a JSON object."
STOPPED = "Error: the tool is no longer available."


class LiveTools:
    """A `World` of real tools, called in their sandbox. `uses` are the calls made so far.

    `grant` is asked before each call whether it may be made. `is_stopped` is set when a call was not made,
    and `failure` if that was because of an error of misstep's own.
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
        self.failure: Exception | None = None

    @property
    def tools(self) -> Sequence[Tool]:
        return [described.tool for described in self._offered]

    def answer(self, name: str, arguments: Any) -> str:
        """What an agent is told: the result, or the error with its type, as frameworks do."""
        if name not in [described.name for described in self._offered]:
            return f"Error: there is no tool '{name}'."
        if not isinstance(arguments, dict):
            return NOT_AN_OBJECT
        try:
            use = self._use(Invocation(name, json.dumps(arguments)))
        except Exception as error:  # must not reach the agent as if the tool had said it
            use, self.failure = None, error
        if use is None:
            self.is_stopped = True
            return STOPPED
        self.uses.append(use)
        return use.result

    def _use(self, invocation: Invocation) -> Use | None:
        """Make a call; None if it is not allowed or the workbench makes no more."""
        reactions = list(self._process.run([Probe(invocation)])) if self._grant() else []
        if not reactions:
            return None
        said = cut(_told(reactions[0]), ANSWER)
        return Use(invocation.tool, invocation.arguments, said, self._judge(invocation, reactions[0]))

    def renewed(self) -> "LiveTools":
        """The same tools from a fresh start, with no calls made."""
        self._process.reset()
        self.uses.clear()
        return self


def _told(reaction: Reaction) -> str:
    if reaction.raised is not None and reaction.ended == "raised":
        return f"Error: {reaction.raised.kind}: {reaction.raised.message}"
    if reaction.ended == "returned":
        return reaction.text
    return f"Error: {reaction.detail or reaction.ended}"
