"""Judges calls of known tools from nothing but the call and the reaction."""

import json
from collections.abc import Callable, Sequence

from misstep.core.ruling import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.tooling.judging.demands import broken_demand
from misstep.tooling.judging.ruling import judge


def judge_calls_of(tools: Sequence[Described]) -> Callable[[Invocation, Reaction], Judged]:
    """Rulings on calls of these tools; what the arguments break is found out, as when a call is replayed."""
    by_name = {described.name: described for described in tools}

    def rule(invocation: Invocation, reaction: Reaction) -> Judged:
        described = by_name[invocation.tool]
        broken = broken_demand(described.tool.parameters, json.loads(invocation.arguments))
        return judge(described, invocation, not broken, broken, reaction)

    return rule
