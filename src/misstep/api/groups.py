"""Settings that go together, wherever they are given."""

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
    "part",
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

# What keeps tools from doing harm, what else is said about them.
SHELTER = ("memory", "sandbox", "allow_network", "allow_read", "workspace", "descriptions")

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
