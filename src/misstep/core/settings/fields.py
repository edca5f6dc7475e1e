"""All settings with their defaults, as one frozen struct.

Files, environment variables and the command line are layers over it.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta

from misstep.core.constraint import FAMILIES, Family
from misstep.core.results.consistency import CHECKS, Check
from misstep.core.results.fixing import STRATEGIES, Strategy
from misstep.core.spending import Budget

Aspect: TypeAlias = Literal["topics", "words", "structures"]
Portion: TypeAlias = Literal["train", "topics", "words", "structures"]

ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
PORTIONS: tuple[Portion, ...] = get_args(Portion)


class Span:
    """An inclusive range of whole numbers, written `3-5` or `4`."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}" if self.low != self.high else str(self.low)

    def __repr__(self) -> str:
        return f"Span({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    @classmethod
    def parse(cls, given: object) -> "Span":
        if isinstance(given, int) and not isinstance(given, bool):
            return cls(given, given)
        match = (
            re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", given) if isinstance(given, str) else None
        )
        if not match:
            raise ValueError(given)
        return cls(int(match[1]), int(match[2] or match[1]))


Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Report = Literal["html", "junit", "sarif", "json", "md", "ndjson"]
Method = Literal["sequential", "pdoctor"]
ToolMethod = Literal["toolfuzz", "greybox", "whitebox"]
RETRIES = 6
TIME_PER_REQUEST = 180.0  # seconds


def _doc(text: str) -> Meta:
    return Meta(description=text)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default; each is a flag, an environment variable and a key in a file."""

    agent: Annotated[str, _doc("The agent under test, e.g. sim:perfect.")] = ""
    agent_args: Annotated[dict[str, str], _doc("A parameter of the agent, key=value; may be repeated.")] = {}
    model: Annotated[str, _doc("The agent's model, e.g. openai/gpt-4o, ollama/llama3 or local.")] = ""
    model_base_url: Annotated[str, _doc("A server with OpenAI's interface that has the model.")] = ""
    model_roles: Annotated[
        dict[str, str], _doc("A model for a role, e.g. judge=openai/gpt-4o; may be repeated.")
    ] = {}
    temperature: Annotated[float, Meta(ge=0, le=2), _doc("How much a model leaves to chance.")] = 0.0
    prompt: Annotated[str, _doc("A template for the words round the request (react, tools, …).")] = ""
    retries: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | None,
        _doc(f"How often a failed model request is tried again ({RETRIES})."),
    ] = None
    requests: Annotated[int, Meta(ge=1, le=10_000), _doc("Most model requests in flight.")] = 16
    requests_per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, _doc("Most model requests started in a minute.")
    ] = None
    cache: Annotated[bool, _doc("Keep replies of models, and don't ask the same thing twice.")] = False
    prices: Annotated[str, _doc("A file that says what models cost.")] = ""
    budget_usd: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None, _doc("The most that a run may cost.")
    ] = None
    budget_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=10**15)] | None, _doc("The most tokens that a run may use.")
    ] = None
    budget_time: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        _doc("The longest that a run may take, e.g. 90 or 1h30m."),
    ] = None
    budget_calls: Annotated[
        Annotated[int, Meta(ge=1, le=10**15)] | None, _doc("The most tool calls that a run may make.")
    ] = None
    dry_run: Annotated[bool, _doc("Say what the run would come to, and don't start it.")] = False
    python: Annotated[str, _doc("An interpreter to run the agent in, in processes of its own.")] = ""
    record_proxy: Annotated[
        bool, _doc("Record what the agent's framework hides, between it and its model.")
    ] = False
    actions: Annotated[Span, _doc("How many actions a problem has.")] = Span(3, 5)
    family: Annotated[
        tuple[Family, ...],
        _doc(f"What problems are about, one or more of {', '.join(FAMILIES)}."),
    ] = ("order",)
    timed: Annotated[bool, _doc("Order and time: the same as --family order,time.")] = False
    attempts: Annotated[int, Meta(ge=1, le=10), _doc("Attempts at a timed problem.")] = 3
    distractors: Annotated[int, Meta(ge=0, le=15), _doc("Tools that nobody needs.")] = 0
    tools: Annotated[str, _doc("Tools of your own to make problems of; they are never called.")] = ""
    difficulty: Annotated[
        tuple[str, ...], _doc("What cases have to meet, e.g. chain>=3; may be repeated.")
    ] = ()
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        _doc("How many cases (100, or one per order if exhaustive)."),
    ] = None
    per_pair: Annotated[
        int, Meta(ge=1, le=10_000), _doc("Cases for each pair of actions in a capability curve.")
    ] = 20
    most_cases: Annotated[
        int, Meta(ge=1, le=10**6), _doc("Most cases for one number of actions in a capability curve.")
    ] = 300
    threshold: Annotated[Share, _doc("Success under which a capability curve ends.")] = 0.2
    full: Annotated[bool, _doc("Go on under the threshold, to the last number of actions.")] = False
    adaptive: Annotated[bool, _doc("Choose numbers of actions where they tell most, and stop early.")] = False
    width: Annotated[
        Annotated[float, Meta(gt=0, le=20)] | None,
        _doc("How narrow --adaptive gets the interval of the 50 % point (default: like all cases would)."),
    ] = None
    beside: Annotated[
        tuple[str, ...],
        _doc("A capability run, or a FILE.json with a curve, to show in the same figure; may be repeated."),
    ] = ()
    published: Annotated[
        bool, _doc("Show beside a curve what the PDoctor paper says of GPT-3.5 and GPT-4.")
    ] = False
    method: Annotated[Method, _doc("How causes are found.")] = "sequential"
    sample: Annotated[int, Meta(ge=1, le=10**6), _doc("Most failures to look into.")] = 100
    mutations: Annotated[int, Meta(ge=1, le=1000), _doc("Mutations of each kind in the method pdoctor.")] = 5
    confidence: Annotated[
        float, Meta(ge=0.5, le=0.9999), _doc("How sure to be of a cause, or of a step in shrinking.")
    ] = 0.95
    most_runs: Annotated[
        Annotated[int, Meta(ge=1, le=10**6)] | None,
        _doc("Most runs of the agent for one failure (60, or 500 to shrink it)."),
    ] = None
    only: Annotated[tuple[str, ...], _doc("The name of a tool to fuzz; may be repeated (default: all).")] = ()
    time_per_tool: Annotated[
        float, Meta(gt=0, le=1e9), _doc("How long to fuzz each tool, e.g. 90s or 5m.")
    ] = 300.0
    calls_per_tool: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None, _doc("Most calls to fuzz each tool with.")
    ] = None
    from_run: Annotated[str, _doc("A run of tool fuzz to begin with what it has found and kept.")] = ""
    time_per_request: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        _doc(f"How long the agent, or a model, may take over one request ({TIME_PER_REQUEST:g}s)."),
    ] = None
    requests_per_crash: Annotated[
        int, Meta(ge=1, le=100), _doc("How many natural requests are tried for each defect of a tool.")
    ] = 3
    tokens_per_tool: Annotated[
        int, Meta(ge=1, le=10**15), _doc("Tokens for each tool beyond which the report says so.")
    ] = 25_000
    usd_per_tool: Annotated[
        float, Meta(gt=0, le=1e9), _doc("Dollars for each tool beyond which the report says so.")
    ] = 0.10
    prompts: Annotated[str, _doc("A folder with templates of your own for what models are asked.")] = ""
    tool_method: Annotated[
        ToolMethod,
        _doc("How requests are come by; greybox and whitebox only ask a model for them."),
    ] = "toolfuzz"
    skip_sanity: Annotated[
        bool, _doc("Put defects to the agent without asking whether the documentation allows them.")
    ] = False
    variants: Annotated[int, Meta(ge=2, le=100), _doc("Synonymous requests in a set.")] = 5
    checks: Annotated[
        tuple[Check, ...],
        _doc("What has to say that a set is faulty: inputs, outputs, judge."),
    ] = CHECKS
    normalise: Annotated[bool, _doc("Take results for equal that differ in spelling and rounding only.")] = (
        False
    )
    descriptions: Annotated[str, _doc("A file that describes tools in other words than their own.")] = ""
    candidates: Annotated[int, Meta(ge=1, le=1000), _doc("How many descriptions are tried for a tool.")] = 10
    strategy: Annotated[
        tuple[Strategy, ...],
        _doc(f"What descriptions are written from, one or more of {', '.join(STRATEGIES)}."),
    ] = ("findings",)
    bench: Annotated[
        Literal["files", "forge"] | None, _doc("A benchmark to score descriptions on, rather than requests.")
    ] = None
    context: Annotated[str, _doc("A file about where the tools work, for whoever writes requests.")] = ""
    split: Annotated[
        Literal["validation", "test", "all", "fresh"],
        _doc("Which tasks of a benchmark; fresh ones are made from the seed."),
    ] = "test"
    kinds: Annotated[tuple[str, ...], _doc("A kind of task; may be repeated (default: all).")] = ()
    domains: Annotated[tuple[str, ...], _doc("A domain of tasks; may be repeated (default: all).")] = ()
    data: Annotated[str, _doc("A folder with tasks on files in the layout of the ToolFuzz paper.")] = ""
    groups: Annotated[str, _doc("A file with the tools of each group, by its name.")] = ""
    sandbox: Annotated[
        Literal["auto", "bubblewrap", "none"],
        _doc("Sandbox for tools; auto needs bubblewrap, none runs them with all your rights."),
    ] = "auto"
    allow_network: Annotated[bool, _doc("Let tools use the network.")] = False
    allow_read: Annotated[
        tuple[str, ...], _doc("A file or folder that tools may read in the sandbox; may be repeated.")
    ] = ()
    memory: Annotated[
        int, Meta(ge=64, le=10**6), _doc("Megabytes that a tool may use beyond what loading it took.")
    ] = 1024
    workspace: Annotated[str, _doc("A folder of which tools get a copy to work in.")] = ""
    seed: Annotated[int, Meta(ge=0, le=2**53 - 1), _doc("Random seed: the same seed gives the same run.")] = 0
    sentences: Annotated[int, Meta(ge=0, le=100), _doc("Most sentences (0: actions minus one).")] = 0
    iterations: Annotated[Positive, _doc("How often a sentence is tried.")] = 50
    redundancy: Annotated[Share, _doc("Rate of sentences that repeat what is implied.")] = 0.0
    group: Annotated[Positive, _doc("Most actions that share a place in a clause.")] = 3
    relative: Annotated[Share, _doc("Rate of relative clauses.")] = 0.2
    topics: Annotated[tuple[str, ...], _doc("A topic to draw from; may be repeated (default: all).")] = ()
    part: Annotated[
        tuple[Portion, ...],
        _doc(
            f"What models may learn from (train), or what is kept back: {', '.join(ASPECTS)} (default: all)."
        ),
    ] = ()
    request: Annotated[str, _doc("The template of the request around the problem.")] = "role-play"
    exhaustive: Annotated[bool, _doc("Cover every partial order, each shape once.")] = False
    cases: Annotated[str, _doc("A file of cases to use instead of synthesising them.")] = ""
    plans: Annotated[str, _doc("A file of plans, or of trajectories: messages, Inspect logs, OTLP JSON.")] = (
        ""
    )
    out: Annotated[str, _doc("Where to write; standard output if left out.")] = ""
    verify: Annotated[bool, _doc("Judge every plan with Z3 as well and stop if the two disagree.")] = False
    jobs: Annotated[int, Meta(ge=1, le=10_000), _doc("Cases in flight at a time.")] = 8
    on: Annotated[Literal["local", "ray"], _doc("Where cases run: in this process, or on a Ray cluster.")] = (
        "local"
    )
    ray_address: Annotated[str, _doc("The Ray cluster (default: a local one of our own).")] = ""
    timeout: Annotated[float, Meta(gt=0, le=1e9), _doc("Seconds allowed for one case.")] = 180.0
    max_steps: Annotated[Positive, _doc("Turns the agent is allowed in one case.")] = 50
    parallel: Annotated[
        Literal["ordered", "forbid"],
        _doc("Calls made in one turn: count in the order given, or are an error."),
    ] = "ordered"
    messages: Annotated[bool, _doc("Keep the raw messages between agent and model.")] = False
    store: Annotated[str, _doc("Where runs are kept.")] = ".misstep/store.db"
    trust_store: Annotated[
        bool, _doc("Use agents, interpreters, tools and servers that only a store from elsewhere names.")
    ] = False
    resume: Annotated[str, _doc("Go on with a run that was cut short.")] = ""
    display: Annotated[Literal["auto", "rich", "plain", "none"], _doc("How progress is shown on stderr.")] = (
        "auto"
    )
    report: Annotated[
        tuple[Report, ...],
        _doc(f"A report to write, one or more of {', '.join(get_args(Report))}."),
    ] = ()
    report_dir: Annotated[str, _doc("Where reports are written; - is standard output.")] = "misstep-report"
    fail_on: Annotated[
        str | None, _doc("When to exit with 1: any, none or threshold:RATE (any; none beside --baseline).")
    ] = None
    json: Annotated[bool, _doc("Print one JSON object, the summary, on stdout.")] = False
    baseline: Annotated[
        str, _doc("An earlier run of the same command; exit with 1 if this one is significantly worse.")
    ] = ""
    step_summary: Annotated[
        bool, _doc("Add what came of a run to $GITHUB_STEP_SUMMARY, where that is set.")
    ] = True
    case: Annotated[str, _doc("The case that plans belong to which don't say so themselves.")] = ""
    otlp: Annotated[str, _doc("An OTLP/HTTP endpoint to send a trace of each case to.")] = ""
    otlp_content: Annotated[bool, _doc("Send requests, arguments, results and answers too.")] = False

    @property
    def budget(self) -> Budget:
        return Budget(self.budget_usd, self.budget_tokens, self.budget_time, self.budget_calls)

    @property
    def most_retries(self) -> int:
        return RETRIES if self.retries is None else self.retries

    @property
    def request_seconds(self) -> float:
        """How long a request may take."""
        return TIME_PER_REQUEST if self.time_per_request is None else self.time_per_request

    def overlay(self, layer: Mapping[str, Any]) -> "Settings":
        """These settings with some replaced; the values must have passed `parse_setting`."""
        return msgspec.structs.replace(self, **layer)


BUDGETS = ("budget_usd", "budget_tokens", "budget_time", "budget_calls")
MEANS = (*BUDGETS, "retries", "time_per_request")  # what a resumed run may be given more of


def store_flag(location: str) -> str:
    """The `--store` option that a command needs to find the store; empty for the default location."""
    return "" if location == Settings().store else f" --store {shlex.quote(location)}"
