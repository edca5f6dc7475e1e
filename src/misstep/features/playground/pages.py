"""The playground: problems that a person solves by hand, judged like the work of an agent, and its pages.

All state is in the requests; the server keeps nothing.

As JSON a problem is

    {"id", "topic", "chance" | null, "timed",
     "request": [{"text", "told"}],                     paragraphs; `told` marks those with constraints
     "tools":   [{"name", "about", "fields": [{"name", "kind", "about", "choices": [text, …]}]}]}

The tools are in the order in which agents get them. All text is escaped.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from misstep.core.agent import Answer, Tool
from misstep.core.case import Case, Planned
from misstep.core.constraint import FAMILIES, Family
from misstep.core.outcome import Outcome
from misstep.core.rng import SEED_LIMIT
from misstep.core.settings import Settings, Span
from misstep.engine.recorder import Deadline, Recorder
from misstep.errors import UsageError
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import MOST_MIXED, make_case
from misstep.planning.world.mock import MockWorld
from misstep.rendering.html.cases import CaseOrigin, detail_of
from misstep.rendering.text import plain, plain_lines
from misstep.runs.cases import suite_of
from misstep.runs.execution import execute_once, judge, record
from misstep.runs.reporting.case_bundles import moves_of
from misstep.web.pages import complaints, read_body, shipped, show

NAME = 200  # characters
START_TIME = "start_time"  # an argument of tools in timed problems

Kind = Literal["text", "number", "time", "choice"]


def problem_of(case: Case, tools: Sequence[Tool]) -> dict[str, Any]:
    """A case without what would reveal the solution."""
    return {
        "id": plain(case.id, NAME),
        "topic": plain(case.topic, NAME),
        "chance": case.chance,
        "timed": case.world.day is not None,
        "request": [
            {"text": plain_lines(text), "told": any(each and each in text for each in case.sentences)}
            for text in case.query.split("\n\n")
        ],
        "tools": [_tool(tool) for tool in tools],
    }


def _tool(tool: Tool) -> dict[str, Any]:
    fields = tool.parameters.get("properties", {})
    return {
        "name": plain(tool.name, NAME),
        "about": plain(tool.description),
        "fields": [
            {
                "name": plain(name, NAME),
                "kind": _kind(name, schema),
                "about": plain(schema.get("description", "")),
                "choices": [plain(each, NAME) for each in schema.get("enum", ())],
            }
            for name, schema in fields.items()
        ],
    }


def _kind(name: str, schema: dict[str, Any]) -> Kind:
    if "enum" in schema:
        return "choice"
    if schema.get("type") == "integer":
        return "number"
    return "time" if name == START_TIME else "text"


FEWEST_ACTIONS, MOST_ACTIONS = 3, 12
MOST_DISTRACTORS = 8
MOST_CALLS = Settings().max_steps  # the same limit as for an agent's turns
PLAYERS = ("sim:greedy", "sim:perfect", "sim:random")
REMEMBERED = 128  # problems: a person makes many calls for the same one

Name = Annotated[str, Meta(max_length=100)]
Value = Annotated[str, Meta(max_length=200)] | int | float | bool | None


class ProblemChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which problem; the same choice always gives the same problem."""

    actions: Annotated[int, Meta(ge=FEWEST_ACTIONS, le=MOST_ACTIONS)] = 4
    family: Annotated[tuple[Family, ...], Meta(min_length=1, max_length=len(FAMILIES))] = ("order",)
    distractors: Annotated[int, Meta(ge=0, le=MOST_DISTRACTORS)] = 0
    seed: Annotated[int, Meta(ge=0, lt=SEED_LIMIT)] = 1

    @property
    def settings(self) -> Settings:
        """The settings with which a command makes exactly this problem."""
        span = Span(self.actions, self.actions)
        chosen = {"family": self.family, "distractors": self.distractors, "seed": self.seed}
        return Settings(actions=span, count=1).overlay(chosen)


class PlayerStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tool: Name
    arguments: Annotated[dict[Name, Value], Meta(max_length=10)] = {}


Steps = Annotated[tuple[PlayerStep, ...], Meta(max_length=MOST_CALLS)]


def sizes(wish: ProblemChoice) -> tuple[int, int]:
    """The minimum and maximum number of actions of problems like this one."""
    any_families = Span(MOST_MIXED, MOST_MIXED)  # the maximum for problems of all families
    least, most = suite_of(_sorted(wish).settings.overlay({"actions": any_families})).bounds
    return max(least, FEWEST_ACTIONS), min(most, MOST_ACTIONS)


def fitted(wish: ProblemChoice) -> ProblemChoice:
    wish = _sorted(wish)
    least, most = sizes(wish)
    return msgspec.structs.replace(wish, actions=min(max(wish.actions, least), most))


def _sorted(wish: ProblemChoice) -> ProblemChoice:
    """Each family once, in a fixed order, since the order has no meaning."""
    return msgspec.structs.replace(wish, family=tuple(each for each in FAMILIES if each in wish.family))


@lru_cache(REMEMBERED)
def make_problem(wish: ProblemChoice) -> Case:
    """The problem; a `UsageError` if it can't be made."""
    return make_case(suite_of(wish.settings), 0)


def tools_of(case: Case) -> Sequence[Tool]:
    return MockWorld(case).tools


def right_calls(case: Case) -> tuple[Planned, ...]:
    tools = {action.id: action.tool for action in case.actions}
    return case.solution or tuple(Planned(tools[action]) for action in case.witness)


def play(case: Case, steps: Sequence[PlayerStep | Planned]) -> list[str]:
    recorder = _recorder(case)
    return [recorder.call(step.tool, step.arguments) for step in steps]


def judge_calls(case: Case, steps: Sequence[PlayerStep | Planned]) -> Outcome:
    """The verdict on these calls, followed by a final answer."""
    recorder = _recorder(case)
    for step in steps:
        recorder.call(step.tool, step.arguments)
    return judge(case, Settings(), recorder.transcript(case.id, Answer()), 0.0)


def let_try(case: Case, player: str) -> Outcome:
    if player not in PLAYERS:
        raise UsageError(f"'{player}' is not available here", f"expected one of {', '.join(PLAYERS)}")
    agent = simulated_agent(player.removeprefix("sim:"), {})
    return asyncio.run(execute_once(agent, Settings(), case))


def show_problem(wish: ProblemChoice) -> dict[str, Any]:
    case = make_problem(wish)
    return problem_of(case, tools_of(case)) | {
        "wish": msgspec.to_builtins(wish),
        "sizes": sizes(wish),
        "most_calls": MOST_CALLS,
    }


def detail(wish: ProblemChoice, outcome: Outcome) -> dict[str, Any]:
    """The outcome in the format of the case view; no time is recorded."""
    moves = moves_of(outcome.case, outcome.transcript.calls)
    shown = detail_of(outcome, moves, CaseOrigin(""))
    return shown | {"replay": command_for(wish), "seconds": None}


def command_for(wish: ProblemChoice) -> str:
    """The command that runs an agent on the same problem."""
    words = ["misstep plan test --agent sim:greedy", f"--actions {wish.actions}"]
    words += [f"--family {','.join(wish.family)}"] if wish.family != ("order",) else []
    words += [f"--distractors {wish.distractors}"] if wish.distractors else []
    return " ".join([*words, f"--seed {wish.seed} --count 1"])


def _recorder(case: Case) -> Recorder:
    settings = Settings()
    return record(case, settings, Deadline(settings.timeout))


LONGEST = 100_000  # bytes; the maximum number of calls takes less
YOU, RIGHT = "you", "right"
ABOUT = {  # a short description of each family, to choose from
    "order": "before, after",
    "time": "a clock, durations",
    "data": "values passed between calls",
    "adjacent": "right after, first, last",
    "choice": "either, or",
    "repeat": "twice, at most",
    "budget": "prices",
    "dynamic": "failing tools, announcements",
}

K = TypeVar("K")


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A problem, and the calls made so far.

    `by` says who gets the verdict: the person who made these calls, or a planner that makes its own.
    """

    wish: ProblemChoice
    calls: Steps = ()
    by: Name = YOU


def playground_app() -> Any:
    """An ASGI application that works alone or under any path; put an `OriginGuard` before it.

    Each request contains the problem and all calls so far, which are carried out again.
    """
    routes = [
        Route("/", _page, name="playground"),
        Route("/problem", _told(ProblemChoice, _problem), methods=["POST"], name="problem"),
        Route("/play", _told(_Asked, _play), methods=["POST"], name="play"),
        Route("/verdict", _told(_Asked, _verdict), methods=["POST"], name="verdict"),
        shipped(),
    ]
    return Starlette(routes=routes, exception_handlers=complaints())


def _page(request: Request) -> Response:
    return show(
        request,
        "playground.html",
        families=[(family, ABOUT[family]) for family in FAMILIES],
        usual=ProblemChoice(),
        limits={
            "FEWEST_ACTIONS": FEWEST_ACTIONS,
            "MOST_ACTIONS": MOST_ACTIONS,
            "MOST_DISTRACTORS": MOST_DISTRACTORS,
            "PLAYERS": PLAYERS,
        },
    )


def _problem(wish: ProblemChoice) -> dict[str, Any]:
    return show_problem(fitted(wish))


def _play(asked: _Asked) -> dict[str, Any]:
    case = make_problem(fitted(asked.wish))
    return {"results": [plain(result) for result in play(case, asked.calls)]}


def _verdict(asked: _Asked) -> dict[str, Any]:
    wish = fitted(asked.wish)
    case = make_problem(wish)
    if asked.by == YOU:
        outcome = judge_calls(case, asked.calls)
    elif asked.by == RIGHT:
        outcome = judge_calls(case, right_calls(case))
    else:
        outcome = let_try(case, asked.by)
    return detail(wish, outcome)


def _told(kind: type[K], make: Callable[[K], dict[str, Any]]) -> Any:
    """Answer JSON with JSON; invalid input gets a one-sentence error."""

    async def answer(request: Request) -> Response:
        status = 200
        try:
            body = await read_body(request, LONGEST)
            try:
                asked = msgspec.json.decode(body, type=kind)
            except msgspec.ValidationError as error:
                raise HTTPException(400, plain(f"invalid input: {error}", 500)) from None
            except (msgspec.DecodeError, RecursionError):
                raise HTTPException(400, "invalid input: expected JSON") from None
            told = await run_in_threadpool(make, asked)
        except HTTPException as error:
            told, status = {"message": error.detail}, error.status_code
        except UsageError as error:
            told, status = {"message": plain(": ".join([error.message, *error.hints]))}, 400
        return Response(msgspec.json.encode(told), status, media_type="application/json")

    return answer
