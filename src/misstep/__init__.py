"""misstep finds the step where an LLM agent goes wrong."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misstep.core.agent import Agent, Answer, Assignment, Toolbox
    from misstep.core.case import Case
    from misstep.core.outcome import Call, Transcript, Verdict
    from misstep.core.results.finding import Finding
    from misstep.core.settings import Settings, Span
    from misstep.errors import BudgetExceeded, MisstepError, UsageError
    from misstep.features.plan_test.run import run_agent
    from misstep.features.tool_fuzz.replay import replay_calls
    from misstep.features.tool_fuzz.run import fuzz_tools
    from misstep.planning.judging.check import check
    from misstep.runs.cases import synthesise
    from misstep.runs.executor import replay_case
    from misstep.testing.running import test_planning, test_tools

__all__ = [
    "Agent",
    "Answer",
    "Assignment",
    "BudgetExceeded",
    "Call",
    "Case",
    "Finding",
    "MisstepError",
    "Settings",
    "Span",
    "Toolbox",
    "Transcript",
    "UsageError",
    "Verdict",
    "check",
    "fuzz_tools",
    "replay_calls",
    "replay_case",
    "run_agent",
    "synthesise",
    "test_planning",
    "test_tools",
]

_HOMES = {
    "misstep.features.tool_fuzz.run": ("fuzz_tools",),
    "misstep.features.plan_test.run": ("run_agent",),
    "misstep.runs.cases": ("synthesise",),
    "misstep.runs.executor": ("replay_case",),
    "misstep.testing.running": ("test_planning", "test_tools"),
    "misstep.features.tool_fuzz.replay": ("replay_calls",),
    "misstep.core.agent": ("Agent", "Answer", "Assignment", "Toolbox"),
    "misstep.core.case": ("Case",),
    "misstep.core.results.finding": ("Finding",),
    "misstep.core.settings": ("Settings", "Span"),
    "misstep.core.outcome": ("Call", "Transcript", "Verdict"),
    "misstep.errors": ("BudgetExceeded", "MisstepError", "UsageError"),
    "misstep.planning.judging.check": ("check",),
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import misstep` stays fast."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'misstep' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Names for completion in notebooks and shells."""
    return sorted([*globals(), *__all__])
