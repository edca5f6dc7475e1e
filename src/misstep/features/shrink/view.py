"""Shows what a failure was reduced to, and writes it as a pytest test."""

import re
from math import ceil, log
from pprint import pformat

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from misstep.core.results.diagnosis import Reduction
from misstep.core.settings import Settings
from misstep.rendering.case import calls_view, constraints_view
from misstep.rendering.layout import Trimmed, section
from misstep.rendering.terminal import STYLES, counted
from misstep.rendering.text import plain, plain_lines


def reduction_view(reduction: Reduction) -> RenderableType:
    outcome = reduction.outcome
    if outcome is None:
        if reduction.complaint and not reduction.tried:
            why = plain(reduction.complaint, 300)
            return Text(f"The case could not be replayed: {why}")
        tried = counted(reduction.tried, "further run")
        return Text(f"The case did not fail this way again in {tried}, so there is nothing to shrink.")
    before, after = reduction.before, reduction.after
    sizes = {"action": before.actions, "sentence": before.sentences, "constraint": before.constraints}
    was = ", ".join(counted(size, what) for what, size in sizes.items())
    steps, runs = counted(reduction.steps, "step"), counted(reduction.agent_runs, "run")
    often = f"{reduction.failed} of {counted(reduction.tried, 'run')}"
    effort = f"found in {steps} and {runs} of the agent; it fails {often} ({reduction.kind})"
    parts = [
        Text(f"{was} → {after.actions}, {after.sentences}, {after.constraints}", style="bold"),
        Text(effort, style="dim"),
        Text(_certainty(reduction), style="dim" if reduction.minimal else STYLES["inconclusive"]),
        section("request", Text(plain_lines(outcome.case.query))),
        section("calls", calls_view(outcome)),
        section("why", Text(plain(outcome.verdict.explanation))),
        *([section("broken constraints", constraints_view(outcome))] if outcome.verdict.violated else []),
    ]
    return Trimmed(Group(*parts))


def _certainty(reduction: Reduction) -> str:
    if reduction.unjudged:
        steps = counted(reduction.unjudged, "step")
        return f"{steps} to smaller requests could not be judged: {plain(reduction.complaint, 300)}"
    if not reduction.minimal:
        return "there may be a smaller one: raise --most-runs to try everything"
    if reduction.otherwise:
        other = f"{reduction.otherwise} of them fail differently"
        return f"every smaller or simpler request was tried: none fails this way, {other}"
    return "every smaller or simpler request was tried, and passed"


# Settings that define the agent; all others are about the run in which the failure was found.
_FACTS = (
    *("agent", "agent_args", "model", "model_base_url", "model_roles", "temperature", "prompt", "python"),
    *("record_proxy", "retries", "timeout", "max_steps", "parallel"),
)
DOUBT = 0.05  # the risk that an agent which fails as often as before passes
MOST_RUNS = 20
WIDTH = 100

# Text from outside is written as a Python literal, so that it can't be code.
_TEST = '''\
"""A minimised request that an agent gets wrong. Written by misstep."""

import msgspec

from misstep import Case, Settings, replay_case

SETTINGS = Settings(**{settings})

CASE = msgspec.convert({case}, Case)

# How it failed when this was written, and how many runs it takes to see that.
FAILURE = {failure}
RUNS = {runs}


def test_case_{name}() -> None:
    for run in range(RUNS):
        case = msgspec.structs.replace(CASE, seed=CASE.seed + run)
        verdict = replay_case(case, SETTINGS).verdict
        assert verdict.verdict == "passed", (
            f"{{verdict.verdict}} ({{verdict.error}}): {{verdict.explanation}}\\n\\n"
            f"{{CASE.query}}\\n\\nWhen this test was written: {{FAILURE}}"
        )
'''


def regression_test(reduction: Reduction, settings: Settings) -> str:
    """The source of a test that passes once the agent of these settings gets the smallest case right.

    It runs wherever the agent is found under the name in the settings. A `ValueError` if nothing failed.
    """
    if reduction.outcome is None:
        raise ValueError("the case did not fail again, so there is no test to write")
    case, verdict, usual = reduction.outcome.case, reduction.outcome.verdict, Settings()
    given = {name: getattr(settings, name) for name in _FACTS}
    facts = {name: value for name, value in given.items() if value != getattr(usual, name)}
    runs = 1  # needed to see it fail again at the same failure rate
    if reduction.failed < reduction.tried:
        runs = min(MOST_RUNS, ceil(log(DOUBT) / log(1 - reduction.failed / reduction.tried)))
    return _TEST.format(
        settings=pformat(facts, width=WIDTH),
        case=pformat(msgspec.to_builtins(case), width=WIDTH, sort_dicts=False),
        failure=pformat(f"{verdict.error}: {verdict.explanation}", width=WIDTH),
        runs=runs,
        name=re.sub(r"[^0-9A-Za-z]", "_", case.id),
    )
