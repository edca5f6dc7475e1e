"""Results of crosstalk tests: whether requests meant for some tools trigger unrelated ones."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from misstep.core.outcome import Judgement, Usage
from misstep.core.results.trial import Trial
from misstep.core.stats import wilson

CROSSTALK_VERSION = 1


class ToolGroup(msgspec.Struct, frozen=True):
    """Tools that serve the same purpose. A tool may be in several groups."""

    name: str
    tools: tuple[str, ...]


def offered_beside(group: ToolGroup, groups: Iterable[ToolGroup]) -> tuple[str, ...]:
    """The tools of the other groups, except those that share a group with one of this group's tools."""
    own, near, known = {*group.tools}, set[str](), dict[str, None]()
    for each in groups:
        known |= dict.fromkeys(each.tools)
        near |= {*each.tools} if own & {*each.tools} else set()
    return tuple(tool for tool in known if tool not in near)


class GroupReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of one group's requests, given to the agent with only the `offered` tools.

    `why` says why requests could not be made, if they could not. `usage` is by model role.
    """

    name: str
    tools: tuple[str, ...]
    offered: tuple[str, ...]
    requests: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    ended: Literal["done", "stopped"] = "done"
    why: str = ""
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the groups of its run
    version: int = CROSSTALK_VERSION

    @property
    def judged(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.is_usable]

    @property
    def activating(self) -> list[Trial]:
        """The trials in which the agent called a tool although none of the tools it had was meant."""
        return [trial for trial in self.judged if trial.uses]

    @property
    def calls(self) -> int:
        return sum(len(trial.uses) for trial in self.trials)

    @property
    def verdict(self) -> Judgement:
        if self.activating:
            return "failed"
        return "passed" if self.judged else "inconclusive"


class Activated(msgspec.Struct, frozen=True):
    """How often a tool was called for requests that were not meant for it.

    `calls` were made for `requests` of the `judged` requests at which the agent had the tool; `by_group`
    counts those requests by the group that they were meant for.
    """

    tool: str
    calls: int
    requests: int
    judged: int
    by_group: dict[str, int]

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.requests, self.judged)


class CrosstalkReport(msgspec.Struct, frozen=True):
    """The result of a run; `specs` are the tools it was given, `usage` is by model role."""

    run: str
    specs: tuple[str, ...]
    groups: tuple[GroupReport, ...]
    usage: dict[str, Usage] = {}
    seconds: float = 0.0

    @property
    def judged(self) -> int:
        return sum(len(group.judged) for group in self.groups)

    @property
    def activating(self) -> int:
        return sum(len(group.activating) for group in self.groups)

    @property
    def tools(self) -> list[Activated]:
        """Every tool that the agent had, the most often called first."""
        tools = list[Activated]()
        for name in dict.fromkeys(tool for group in self.groups for tool in group.offered):
            had = [group for group in self.groups if name in group.offered]
            by_group = {group.name: count for group in had if (count := _led_to(group, {name}))}
            calls = sum(use.tool == name for group in had for trial in group.judged for use in trial.uses)
            judged = sum(len(group.judged) for group in had)
            tools.append(Activated(name, calls, sum(by_group.values()), judged, by_group))
        return sorted(tools, key=lambda tool: -tool.requests)

    @property
    def matrix(self) -> dict[str, dict[str, int]]:
        """For each group, how many of its requests led to tools of each group.

        A request that led to a tool of several groups counts for each of them, so a row may add up to more
        than the number of requests.
        """
        return {
            group.name: {other.name: _led_to(group, {*other.tools}) for other in self.groups}
            for group in self.groups
        }


def _led_to(group: GroupReport, tools: set[str]) -> int:
    return sum(any([use.tool in tools for use in trial.uses]) for trial in group.judged)
