"""Agents by the name that the user gives them."""

from collections.abc import Mapping

from misstep.core.agent import Agent
from misstep.errors import UsageError, did_you_mean
from misstep.planning.simulated import PLANNERS, simulated_agent


def find_agent(name: str, options: Mapping[str, str]) -> Agent:
    kind, _, rest = name.partition(":")
    if kind == "sim" and rest:
        return simulated_agent(rest, options)
    known = [f"sim:{planner}" for planner in PLANNERS]
    if not name:
        raise UsageError("no agent was named", "give one with --agent", f"known agents: {', '.join(known)}")
    raise UsageError(
        f"unknown agent '{name}'", f"known agents: {', '.join(known)}", did_you_mean(name, known)
    )
