"""misstep finds the step where an LLM agent goes wrong."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misstep.api.fuzzing import fuzz_tools
    from misstep.api.plan import run_agent, synthesise
    from misstep.api.replay import replay_case
    from misstep.api.testing.planning import test_planning
    from misstep.api.testing.tools import test_tools
    from misstep.api.tool_replay import replay_calls
    from misstep.core.agent import Agent, Answer, Assignment, Toolbox
    from misstep.core.case import Case
    from misstep.core.finding import Finding
    from misstep.core.settings import Settings, Span
    from misstep.core.transcript import Call, Transcript
    from misstep.core.verdict import Verdict
    from misstep.errors import BudgetExceeded, MisstepError, UsageError
    from misstep.planning.judging.explanation import check

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
    "misstep.api.fuzzing": ("fuzz_tools",),
    "misstep.api.plan": ("run_agent", "synthesise"),
    "misstep.api.replay": ("replay_case",),
    "misstep.api.testing.planning": ("test_planning",),
    "misstep.api.testing.tools": ("test_tools",),
    "misstep.api.tool_replay": ("replay_calls",),
    "misstep.core.agent": ("Agent", "Answer", "Assignment", "Toolbox"),
    "misstep.core.case": ("Case",),
    "misstep.core.finding": ("Finding",),
    "misstep.core.settings": ("Settings", "Span"),
    "misstep.core.transcript": ("Call", "Transcript"),
    "misstep.core.verdict": ("Verdict",),
    "misstep.errors": ("BudgetExceeded", "MisstepError", "UsageError"),
    "misstep.planning.judging.explanation": ("check",),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that `import misstep` costs next to nothing."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'misstep' has no attribute '{name}'")


def __dir__() -> list[str]:
    """What notebooks and shells complete."""
    return sorted([*globals(), *__all__])
