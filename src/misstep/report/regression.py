"""A failure as a test of the user's own, to be run with pytest from then on."""

import re
from math import ceil, log
from pprint import pformat

import msgspec

from misstep.core.outcome import Outcome
from misstep.core.reduction import Reduction
from misstep.core.settings import Settings

# What makes an agent the one that failed; everything else is about the run in which it was found.
_FACTS = (
    "agent",
    "agent_args",
    "model",
    "model_base_url",
    "model_roles",
    "temperature",
    "prompt",
    "python",
    "record_proxy",
    "retries",
    "timeout",
    "max_steps",
    "parallel",
)
DOUBT = 0.05  # that an agent which still fails as often gets through
MOST_RUNS = 20
WIDTH = 100

# Whatever comes from outside is a literal, written by Python itself: no text can be more than a text.
_TEST = '''\
"""A request on which an agent went wrong, as small as it gets. Written by misstep."""

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
    """The source of a test that the agent of these settings passes once it gets the smallest case right.

    It runs wherever the agent is found under the name that the settings give it. A `ValueError` where nothing
    failed.
    """
    if reduction.outcome is None:
        raise ValueError("what did not fail again makes no test")
    case = reduction.outcome.case
    return _TEST.format(
        settings=pformat(_facts(settings), width=WIDTH),
        case=pformat(msgspec.to_builtins(case), width=WIDTH, sort_dicts=False),
        failure=pformat(_told(reduction.outcome), width=WIDTH),
        runs=_runs(reduction),
        name=re.sub(r"[^0-9A-Za-z]", "_", case.id),
    )


def _facts(settings: Settings) -> dict[str, object]:
    usual = Settings()
    given = {name: getattr(settings, name) for name in _FACTS}
    return {name: value for name, value in given.items() if value != getattr(usual, name)}


def _told(outcome: Outcome) -> str:
    return f"{outcome.verdict.error}: {outcome.verdict.explanation}"


def _runs(reduction: Reduction) -> int:
    """As many as it takes to see it fail again, should it still fail as often."""
    if reduction.failed >= reduction.tried:
        return 1
    return min(MOST_RUNS, ceil(log(DOUBT) / log(1 - reduction.failed / reduction.tried)))
