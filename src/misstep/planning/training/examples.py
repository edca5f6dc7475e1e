"""Examples to train a model on, made from a case alone or from what an agent did with it.

Each holds the conversation that our own `tools` agent would have had: its instructions, the request, one call
in a turn with the result that the mock tools really give, and a short answer at the end. In the one-shot form
one turn asks for all calls. `misstep` says where an example comes from; whoever takes no other fields may
drop it.
"""

from typing import TypeAlias

import msgspec

from misstep.core.case import Case, families_of
from misstep.core.constraint import Family
from misstep.core.outcome import Outcome
from misstep.core.parts import Portion
from misstep.core.transcript import Call
from misstep.core.verdict import ErrorKind
from misstep.planning.judging.breaches import View
from misstep.planning.judging.check import Parallel, judge, replay
from misstep.planning.training.chat import Message, Offered, System, User, at_once, converse, offer
from misstep.planning.training.solutions import is_foreseeable, solve_case
from misstep.planning.world.mock import MockWorld

Calls: TypeAlias = tuple[Call, ...]
Part: TypeAlias = tuple[Portion, ...]

CLOSING = "Everything has been carried out."


class Origin(msgspec.Struct, frozen=True):
    """The case that an example was made from, with the number of its actions, and how the agent failed.

    `kind` is null where it did not, or where there was none. `part` is what the case was drawn from, as the
    setting of that name says it.
    """

    case: str
    families: tuple[Family, ...]
    actions: int
    part: Part = ()
    kind: ErrorKind | None = None


class Demonstration(msgspec.Struct, frozen=True):
    """A whole conversation that goes right, for supervised training."""

    messages: tuple[Message, ...]
    tools: tuple[Offered, ...]
    misstep: Origin


class Preference(msgspec.Struct, frozen=True):
    """Two ways to go on, the better and the worse, for preference training."""

    prompt: tuple[Message, ...]
    chosen: tuple[Message, ...]
    rejected: tuple[Message, ...]
    tools: tuple[Offered, ...]
    misstep: Origin


Example: TypeAlias = Demonstration | Preference


def demonstrate_case(
    case: Case, instructions: str, part: Part = (), one_shot: bool = False
) -> Demonstration | None:
    """How the case goes right by its canonical plan; None where none is known, or none can be at once."""
    if one_shot and not is_foreseeable(case):
        return None
    calls = solve_case(case)
    if calls is None:
        return None
    return _demonstration(case, _turns(calls, one_shot), instructions, _origin(case, part))


def demonstrate(
    outcome: Outcome, calls: Calls, instructions: str, part: Part = (), one_shot: bool = False
) -> Demonstration:
    """How the case goes right with these calls."""
    origin = _origin(outcome.case, part, outcome.verdict.error)
    return _demonstration(outcome.case, _turns(calls, one_shot), instructions, origin)


def prefer(
    outcome: Outcome, calls: Calls, instructions: str, part: Part = (), one_shot: bool = False
) -> Preference:
    """These calls rather than those of the agent, which keep their results and its answer.

    They keep their turns, too, unless all are asked for at once: the two sides must not differ in that.
    """
    transcript = outcome.transcript
    answer = transcript.answer if transcript.ended == "answered" else None
    return Preference(
        _opening(outcome.case, instructions),
        converse(_turns(calls, one_shot), CLOSING),
        converse(_turns(transcript.calls, one_shot), answer),
        offer(MockWorld(outcome.case).tools),
        _origin(outcome.case, part, outcome.verdict.error),
    )


def shows_fault(outcome: Outcome, parallel: Parallel) -> bool:
    """Whether there is anything wrong to be seen in a failure, where this is the rule for parallel calls.

    An agent that ran out of time or turns may have begun well, and to reject that would teach the opposite.
    """
    if outcome.transcript.ended == "answered":
        return judge(outcome.case, outcome.transcript, parallel).verdict != "passed"
    history = replay(outcome.case, outcome.transcript.calls, parallel)
    return bool(history.acts or history.parameters or View(outcome.case, history).breaches())


def _turns(calls: Calls, one_shot: bool) -> Calls:
    return at_once(calls) if one_shot else calls


def _opening(case: Case, instructions: str) -> tuple[Message, ...]:
    return System(instructions), User(case.query)


def _demonstration(case: Case, calls: Calls, instructions: str, origin: Origin) -> Demonstration:
    messages = (*_opening(case, instructions), *converse(calls, CLOSING))
    return Demonstration(messages, offer(MockWorld(case).tools), origin)


def _origin(case: Case, part: Part, kind: ErrorKind | None = None) -> Origin:
    return Origin(case.id, tuple(families_of(case)), len(case.actions), part, kind)
