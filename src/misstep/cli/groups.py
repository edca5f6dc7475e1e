"""Settings that commands take together."""

from misstep.api.groups import AGENTS, CALLING, FUZZING, LIMITS, SHELTER, SYNTHESIS, TRYING, USUALLY_TRYING

__all__ = [
    "ABOUT_TRYING",
    "ABOUT_TYPED",
    "AGENTS",
    "CALLING",
    "COMPANY",
    "CONSISTENCY",
    "CURVE",
    "FIXED_BY_A_RUN",
    "FIXING",
    "FUZZING",
    "INQUIRY",
    "KEEPING",
    "LIMITS",
    "RUNNING",
    "SHELTER",
    "SYNTHESIS",
    "TASKS",
    "TRYING",
    "TYPED",
    "USUALLY_TRYING",
]

# Where a run is kept, who hears of it.
KEEPING = ("resume", "trust_store", "store", "report", "report_dir", "step_summary", "display", "json")

# An agent that only the command line can put in the place of the one that a run was started with.
TYPED = {"agent": "", "python": ""}
ABOUT_TYPED = {
    "agent": "The agent to run (default: the one of the run).",
    "python": "An interpreter to run the agent in (default: the one of the run).",
}

# When a command fails.
GATE = ("fail_on", "baseline")

# Who else hears of each case.
TRACING = ("otlp", "otlp_content")

RUNNING = ("dry_run", "on", "ray_address", *TRACING, *KEEPING)

CURVE = ("per_pair", "most_cases", "threshold", "full", "adaptive", "width")

# What is shown beside a curve.
COMPANY = ("beside", "published")

INQUIRY = ("method", "sample", "mutations", "confidence", "most_runs")

# What settings mean there, unless the command is about something else than tools.
ABOUT_TRYING = {
    "agent": "The agent that has the tools: tools, react, file.py:name, mcp:COMMAND, …",
    "max_steps": "Turns the agent is allowed for one request.",
    "timeout": "Seconds allowed for one call of a tool.",
    "jobs": "Tools tested at a time.",
}

# What makes and judges sets of requests that mean the same.
CONSISTENCY = ("tool_method", "variants", "checks", "normalise", "context")

# Which tasks of a benchmark.
TASKS = ("split", "kinds", "domains", "data")

# How better words for tools are come by, what they are scored on.
FIXING = ("strategy", "candidates", "bench")

FIXED_BY_A_RUN = (
    *AGENTS,
    *SYNTHESIS,
    "cases",
    *LIMITS,
    *CURVE,
    *INQUIRY,
    *FUZZING,
    *TRYING,
    "groups",
    "requests_per_crash",
    "skip_sanity",
    *CONSISTENCY,
    *TASKS,
    *FIXING,
)
