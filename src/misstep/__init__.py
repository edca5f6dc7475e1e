"""misstep finds the step where an LLM agent goes wrong."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misstep.api.cases import load_cases
    from misstep.api.fuzzing import fuzz_tools
    from misstep.api.plan import check_plans, run_agent, synthesise
    from misstep.api.replay import replay_case
    from misstep.api.tool_replay import replay_calls
    from misstep.core.agent import Agent, Answer, Assignment, Tool, Toolbox
    from misstep.core.case import Action, Case
    from misstep.core.constraint import Before
    from misstep.core.finding import Finding, FuzzReport, ToolReport
    from misstep.core.settings import Settings, Span
    from misstep.core.summary import Summary
    from misstep.core.transcript import Call, Transcript, Usage
    from misstep.core.verdict import Verdict
    from misstep.errors import BudgetExceeded, MisstepError, UsageError
    from misstep.planning.judging.explanation import check

__all__ = [
    "Action",
    "Agent",
    "Answer",
    "Assignment",
    "Before",
    "BudgetExceeded",
    "Call",
    "Case",
    "Finding",
    "FuzzReport",
    "MisstepError",
    "Settings",
    "Span",
    "Summary",
    "Tool",
    "ToolReport",
    "Toolbox",
    "Transcript",
    "Usage",
    "UsageError",
    "Verdict",
    "check",
    "check_plans",
    "fuzz_tools",
    "load_cases",
    "replay_calls",
    "replay_case",
    "run_agent",
    "synthesise",
]

_HOMES = {
    "misstep.api.cases": ("load_cases",),
    "misstep.api.fuzzing": ("fuzz_tools",),
    "misstep.api.plan": ("check_plans", "run_agent", "synthesise"),
    "misstep.api.replay": ("replay_case",),
    "misstep.api.tool_replay": ("replay_calls",),
    "misstep.core.agent": ("Agent", "Answer", "Assignment", "Tool", "Toolbox"),
    "misstep.core.case": ("Action", "Case"),
    "misstep.core.constraint": ("Before",),
    "misstep.core.finding": ("Finding", "FuzzReport", "ToolReport"),
    "misstep.core.settings": ("Settings", "Span"),
    "misstep.core.summary": ("Summary",),
    "misstep.core.transcript": ("Call", "Transcript", "Usage"),
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
