"""Tasks for Inspect: `inspect eval misstep/planning` runs a model or agent on misstep's cases."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, system_message
from inspect_ai.tool import ToolDef, ToolParams

from misstep.adapters.builtin.prompts import load_template
from misstep.core.agent import Tool
from misstep.core.case import Case, families_of
from misstep.core.outcome import Transcript, Verdict
from misstep.core.settings import Settings
from misstep.core.settings.reading import LISTS, parse_setting
from misstep.interop.trajectories.trajectory import read_messages
from misstep.planning.judging.check import Parallel, check
from misstep.planning.world.mock import MockWorld
from misstep.runs.cases import cases_of

TARGET = "every constraint kept"
KEPT = "misstep"  # the key of the case in the metadata of a sample


@task
def planning(
    actions: str | int = "3-5",
    count: int = 100,
    seed: int = 0,
    family: str | list[str] = "order",
    distractors: int = 0,
    parallel: Parallel = "ordered",
    **more: Any,
) -> Task:
    """Requests with known constraints and mock tools, judged by the calls that were made.

    `more` are other settings of `misstep plan test` that select the cases, such as `timed`, `topics` or
    `cases`, a file of cases.
    """
    given = {"actions": actions, "count": count, "seed": seed, "family": family, "distractors": distractors}
    settings = Settings().overlay({name: _setting(name, value) for name, value in {**given, **more}.items()})
    if settings.cases:
        settings = settings.overlay({"count": None})
    return Task(
        dataset=MemoryDataset([_sample(case) for case in cases_of(settings)], name="misstep"),
        setup=[mock_tools()],
        solver=[system_message(load_template("tools", "", ()).fill()), generate()],
        scorer=constraints_kept(parallel),
        metrics=[
            accuracy(),
            stderr(),
            chance(),
            grouped(accuracy(), "actions", all=False, name_template="actions {group_name}"),
        ],
    )


@solver
def mock_tools() -> Solver:
    """Give a sample the mock tools of its case. They remember earlier calls."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        world = MockWorld(_case(state))
        state.tools.extend(_tool(world, tool) for tool in world.tools)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def constraints_kept(parallel: Parallel = "ordered") -> Scorer:
    """Correct if the calls, in the order in which the model requested them, satisfy every constraint."""

    async def score(state: TaskState, _: Target) -> Score:
        verdict = judge(_case(state), [message.model_dump() for message in state.messages], parallel)
        return Score(
            value=CORRECT if verdict.verdict == "passed" else INCORRECT,
            explanation=verdict.explanation or None,
            metadata=msgspec.to_builtins(verdict),
        )

    return score


@metric
def chance() -> Metric:
    """The chance level on the same samples."""

    def mean(scores: list[SampleScore]) -> float:
        levels = [(score.sample_metadata or {}).get("chance") or 0.0 for score in scores]
        return sum(levels) / len(levels) if levels else 0.0

    return mean


def judge(case: Case, messages: list[dict[str, Any]], parallel: Parallel) -> Verdict:
    """The verdict on a conversation; without a final answer it counts as cut short."""
    found = read_messages(messages, case.id)
    last = messages[-1]
    answered = last["role"] == "assistant" and not last.get("tool_calls")
    transcript = Transcript(case.id, found.calls, "answered" if answered else "iterations", found.answer)
    return check(case, transcript, parallel)


def _setting(name: str, value: Any) -> Any:
    """Convert a setting from Inspect: numbers for spans, lists for comma-separated values."""
    if name in LISTS and isinstance(value, list):
        value = ",".join(map(str, value))
    return parse_setting(name, value, f"-T {name}", lax=True)


def _sample(case: Case) -> Sample:
    return Sample(
        id=case.id,
        input=case.query,
        target=TARGET,
        metadata={
            "case": case.id,
            "topic": case.topic,
            "families": list(families_of(case)),
            "actions": len(case.actions),
            "chance": case.chance,
            KEPT: msgspec.to_builtins(case),
        },
    )


def _case(state: TaskState) -> Case:
    return msgspec.convert(state.metadata[KEPT], Case)


def _tool(world: MockWorld, tool: Tool) -> ToolDef:
    async def execute(**arguments: Any) -> str:
        return world.answer(tool.name, arguments)

    made: Callable[..., Awaitable[str]] = execute
    # One after the other: the result of a call may depend on the one before.
    return ToolDef(
        made,
        name=tool.name,
        description=tool.description,
        parameters=ToolParams.model_validate(tool.parameters),
        parallel=False,
    )
