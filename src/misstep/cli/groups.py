"""Settings that commands take together."""

from misstep.core.settings import BUDGETS

SYNTHESIS = (
    "actions",
    "family",
    "timed",
    "attempts",
    "distractors",
    "tools",
    "difficulty",
    "count",
    "seed",
    "topics",
    "sentences",
    "iterations",
    "redundancy",
    "group",
    "relative",
    "request",
    "exhaustive",
)

_MODEL = (
    "agent",
    "agent_args",
    "model",
    "model_base_url",
    "model_roles",
    "temperature",
    "prompt",
)

AGENTS = (
    *_MODEL,
    "retries",
    "requests",
    "requests_per_minute",
    "cache",
    "prices",
    "python",
    "record_proxy",
)

LIMITS = ("jobs", "timeout", "max_steps", "parallel", "messages")

# Where a run is kept, who hears of it.
KEEPING = ("resume", "store", "report", "report_dir", "step_summary", "display", "json")

# When a command fails.
GATE = ("fail_on", "baseline")

# Who else hears of each case.
TRACING = ("otlp", "otlp_content")

RUNNING = ("dry_run", "on", "ray_address", *TRACING, *KEEPING)

CURVE = ("per_pair", "most_cases", "threshold", "full", "adaptive", "width")

INQUIRY = ("method", "sample", "mutations", "confidence", "most_runs")

# What keeps tools from doing harm, what else is said about them.
SHELTER = ("memory", "sandbox", "allow_network", "workspace", "descriptions")

FUZZING = ("only", "time_per_tool", "calls_per_tool", "from_run", *SHELTER)

# How calls of tools are made, how many at most.
CALLING = ("python", "seed", "jobs", *BUDGETS)

# Where an agent has the tools that are tested.
TRYING = (
    *_MODEL,
    "prompts",
    "retries",
    "requests",
    "requests_per_minute",
    "cache",
    "prices",
    "max_steps",
    "time_per_request",
    "tokens_per_tool",
    "usd_per_tool",
)

# What they are there, unless somebody says otherwise.
USUALLY_TRYING = {"timeout": 10.0, "jobs": 2}

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
