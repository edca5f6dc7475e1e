"""Makes calls of tools again from a fresh start."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from misstep.core.results.finding import Finding
from misstep.core.results.trial import Judged
from misstep.core.settings import Settings, check_settings
from misstep.core.tool import Invocation, Probe
from misstep.errors import UsageError, did_you_mean
from misstep.features.tool_fuzz.run import find_finding
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.trust import refuse_foreign, refuse_other_spec
from misstep.tool_host.sandbox.places import anchored


def replay_finding(settings: Settings, run: str, name: str) -> tuple[Finding, Judged]:
    """A finding of a run, and the judgement on its last call when all of its calls are made again."""
    stored, finding = find_finding(settings, run, name)
    refuse_foreign(settings, stored)
    refuse_other_spec(settings, stored, finding.spec)
    return finding, _replay(finding.spec, finding.calls, stored.settings)


def replay_calls(
    spec: str, calls: Sequence[tuple[str, Mapping[str, Any]]], settings: Settings | None = None
) -> Judged:
    """The ruling on the last of some calls of tools, each a name with its arguments, from a fresh start."""
    if not calls:
        raise UsageError("no calls were given", "expected (tool, arguments), at least once")
    made = [Invocation(tool, json.dumps(dict(arguments), allow_nan=False)) for tool, arguments in calls]
    return _replay(anchored(spec), made, check_settings(settings or Settings(timeout=10.0)))


def _replay(spec: str, calls: Sequence[Invocation], settings: Settings) -> Judged:
    own = settings.overlay({"only": tuple(dict.fromkeys(call.tool for call in calls))})
    with Workbenches(own) as benches, benches.lend(spec) as bench:
        tools = {tool.name: tool for tool in bench.tools}
        for call in calls:
            if call.tool not in tools:
                raise UsageError(
                    f"there is no tool '{call.tool}' now", did_you_mean(call.tool, tools), where=spec
                )
        *_, last = bench.run([Probe(call) for call in calls])
        return masked(judge_calls_of(list(tools.values()))(calls[-1], last))
