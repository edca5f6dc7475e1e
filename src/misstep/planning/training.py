"""Training examples, made from a case alone or from what an agent did with it.

Each contains the conversation that misstep's own `tools` agent would have had, in OpenAI's chat format.
Arguments of calls are text, valid JSON or not, as a model writes them: so a file with arguments of many types
can still be loaded as a table.

Of several correct plans the canonical one always takes the first action and option that it may, in the order
in which they are listed, asks for prices first, and if time matters does what is most urgent first. It knows
no more than an agent does, so it tries what can only be learnt by trying, and starts over if necessary.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.agent import Tool
from misstep.core.case import Case, Planned, World, families_of, plain_order
from misstep.core.constraint import Family, StandIn
from misstep.core.outcome import Call, ErrorKind, Outcome, Transcript
from misstep.core.settings import Portion
from misstep.errors import InternalError
from misstep.planning.judging.breaches import View
from misstep.planning.judging.check import Parallel, judge, replay
from misstep.planning.plans.order import first_available, order_of
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.synthesis.problems import name_tools, rehearse
from misstep.planning.world.mock import MockWorld
from misstep.planning.world.tool_table import ToolTable

NEVER_CARRIED_OUT = "(never carried out)"


class Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class Requested(msgspec.Struct, frozen=True):
    id: str
    function: Function
    type: Literal["function"] = "function"


class SystemMessage(msgspec.Struct, frozen=True, tag="system", tag_field="role"):
    content: str


class UserMessage(msgspec.Struct, frozen=True, tag="user", tag_field="role"):
    content: str


class AssistantMessage(msgspec.Struct, frozen=True, omit_defaults=True, tag="assistant", tag_field="role"):
    content: str
    tool_calls: tuple[Requested, ...] = ()


class Result(msgspec.Struct, frozen=True, tag="tool", tag_field="role"):
    tool_call_id: str
    content: str


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | Result


class Offered(msgspec.Struct, frozen=True):
    function: Tool
    type: Literal["function"] = "function"


def converse(calls: Sequence[Call], answer: str | None) -> tuple[Message, ...]:
    """Calls and their results; those of one turn are requested together. Without an answer if it is None."""

    def turn_of(numbered: tuple[int, Call]) -> tuple[str, int]:
        """A key shared by calls of one turn; a call without a turn number has its own."""
        number, call = numbered
        return ("number", number) if call.turn is None else ("turn", call.turn)

    messages = list[Message]()
    for _, group in groupby(enumerate(calls, 1), turn_of):
        turn = [(f"call_{number}", call) for number, call in group]
        requested = [Requested(name, Function(call.tool, _written(call.arguments))) for name, call in turn]
        messages.append(AssistantMessage("", tuple(requested)))
        messages += [Result(name, call.result if call.ran >= 0 else NEVER_CARRIED_OUT) for name, call in turn]
    if answer is not None or not messages:
        messages.append(AssistantMessage(answer or ""))
    return tuple(messages)


def _written(arguments: Any) -> str:
    """Arguments as the model wrote them; invalid JSON was stored as text."""
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


_NOTHING_HIDDEN = World()


def solve(outcome: Outcome) -> tuple[Call, ...] | None:
    """Correct calls, one per turn, with the real results of the tools; None if none are known.

    A passed case is solved by the agent's own calls. Otherwise it is the correct plan nearest to those, if
    the world has nothing to find out: a nearest plan computed with full knowledge would guess what can only
    be learnt by trying. In other cases it is the canonical plan.
    """
    case, nearest = outcome.case, outcome.verdict.nearest
    if outcome.verdict.verdict == "passed":
        own = [call for call in outcome.transcript.calls if call.ran >= 0]
        return _carry_out(case, [Planned(call.tool, call.arguments) for call in own])
    if nearest and case.world == _NOTHING_HIDDEN:
        return _carry_out(case, _named(case, nearest))
    return solve_case(case)


def solve_case(case: Case) -> tuple[Call, ...] | None:
    """The same for a case without an agent: the canonical plan."""
    return _carry_out(case, _canonical(case))


def is_foreseeable(case: Case) -> bool:
    """Whether all calls of a plan are known before the first one: no result matters."""
    return case.world == _NOTHING_HIDDEN and not any(
        isinstance(constraint, StandIn) for constraint in case.constraints
    )


def _carry_out(case: Case, planned: Sequence[Planned] | None) -> tuple[Call, ...] | None:
    if planned is None:
        return None
    world = MockWorld(case)
    calls = tuple(
        [
            Call(each.tool, each.arguments, world.answer(each.tool, each.arguments), turn)
            for turn, each in enumerate(planned, 1)
        ]
    )
    verdict = judge(case, Transcript(case.id, calls), parallel="forbid")
    if verdict.verdict != "passed":
        raise InternalError(
            f"the training example of case {case.id} is not correct: {verdict.error}",
            "this is a bug in misstep: please report it with the case",
        )
    return calls


def _canonical(case: Case) -> Sequence[Planned] | None:
    before = plain_order(case)
    if before is not None:
        actions = [action.id for action in case.actions]
        order = order_of(actions, [(each.first, each.then) for each in before])
        return _named(case, [actions[number] for number in first_available(order.before)])
    if case.solution and not case.distractors:
        return case.solution
    with suppress(TooManyPlans):  # the calls of a strategist that sees the tools in listed order
        listed = [part.action.id for part in ToolTable(case).listed() if part.is_needed]
        calls = rehearse(listed, case.constraints, case.world)
        if calls:
            return name_tools(calls, case.constraints, case.actions)
    return case.solution or None


def _named(case: Case, order: Sequence[str]) -> Sequence[Planned]:
    return name_tools([Planned(action) for action in order], case.constraints, case.actions)


Calls: TypeAlias = tuple[Call, ...]
Part: TypeAlias = tuple[Portion, ...]

CLOSING = "Everything has been carried out."


class ExampleOrigin(msgspec.Struct, frozen=True):
    """The case that an example was made from, with the number of its actions, and how the agent failed.

    `kind` is null if it did not fail, or if there was no agent. `part` is the part that the case was drawn
    from, as in the setting of that name.
    """

    case: str
    families: tuple[Family, ...]
    actions: int
    part: Part = ()
    kind: ErrorKind | None = None


class Demonstration(msgspec.Struct, frozen=True):
    messages: tuple[Message, ...]
    tools: tuple[Offered, ...]
    misstep: ExampleOrigin


class Preference(msgspec.Struct, frozen=True):
    """Two continuations, the better and the worse, for preference training."""

    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]
    tools: tuple[Offered, ...]
    misstep: ExampleOrigin


Example: TypeAlias = Demonstration | Preference


def demonstrate_case(
    case: Case, instructions: str, part: Part = (), one_shot: bool = False
) -> Demonstration | None:
    """The canonical solution as a conversation; None if unknown, or if `one_shot` is impossible."""
    if one_shot and not is_foreseeable(case):
        return None
    calls = solve_case(case)
    if calls is None:
        return None
    return _demonstration(case, _turns(calls, one_shot), instructions, _origin(case, part))


def demonstrate(
    outcome: Outcome, calls: Calls, instructions: str, part: Part = (), one_shot: bool = False
) -> Demonstration:
    origin = _origin(outcome.case, part, outcome.verdict.error)
    return _demonstration(outcome.case, _turns(calls, one_shot), instructions, origin)


def prefer(
    outcome: Outcome, calls: Calls, instructions: str, part: Part = (), one_shot: bool = False
) -> Preference:
    """Prefer these calls to the agent's, which keep their results and its answer.

    They also keep their turns, unless all are requested at once: the two sides must not differ in that.
    """
    transcript = outcome.transcript
    answer = transcript.answer if transcript.ended == "answered" else None
    return Preference(
        _opening(outcome.case, instructions),
        converse(_turns(calls, one_shot), CLOSING),
        converse(_turns(transcript.calls, one_shot), answer),
        _offered(outcome.case),
        _origin(outcome.case, part, outcome.verdict.error),
    )


def shows_fault(outcome: Outcome, parallel: Parallel) -> bool:
    """Whether a failure contains a visible fault under this rule for parallel calls.

    An agent that ran out of time or turns may have started well, and rejecting that would teach the opposite.
    """
    if outcome.transcript.ended == "answered":
        return judge(outcome.case, outcome.transcript, parallel).verdict != "passed"
    history = replay(outcome.case, outcome.transcript.calls, parallel)
    return bool(history.acts or history.parameters or View(outcome.case, history).breaches())


def _turns(calls: Calls, one_shot: bool) -> Calls:
    """The calls as they are, or all requested in one turn."""
    return tuple([msgspec.structs.replace(call, turn=1) for call in calls]) if one_shot else calls


def _offered(case: Case) -> tuple[Offered, ...]:
    return tuple([Offered(tool) for tool in MockWorld(case).tools])


def _opening(case: Case, instructions: str) -> tuple[Message, ...]:
    return SystemMessage(instructions), UserMessage(case.query)


def _demonstration(case: Case, calls: Calls, instructions: str, origin: ExampleOrigin) -> Demonstration:
    messages = (*_opening(case, instructions), *converse(calls, CLOSING))
    return Demonstration(messages, _offered(case), origin)


def _origin(case: Case, part: Part, kind: ErrorKind | None = None) -> ExampleOrigin:
    return ExampleOrigin(case.id, tuple(families_of(case)), len(case.actions), part, kind)
