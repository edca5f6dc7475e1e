"""What came of an agent's calls in its last attempt: the only thing that constraints are held against."""

from typing import Literal

import msgspec

ActFault = Literal["unknown", "arguments", "repeated", "parallel", "distractor", "attempts"]
ParameterFault = Literal["no time", "outside", "early", "value", "stale", "swapped"]


class Deed(msgspec.Struct, frozen=True):
    """An action carried out by the call number `step`.

    `start` and `end` are minutes since midnight, in timed problems. `by` is the action whose tool did it, if
    that stood in for this one.
    """

    action: str
    step: int
    start: int = 0
    end: int = 0
    by: str = ""


class ActSlip(msgspec.Struct, frozen=True):
    """A call that should not have been made; of a repeated one `action` is that whose tool it is."""

    step: int
    fault: ActFault
    action: str = ""


class ParameterSlip(msgspec.Struct, frozen=True):
    """A fitting call that was refused for a wrong value in a parameter; `action` is the one whose tool it is.

    A call with several wrong values makes one slip for each of them.
    """

    step: int
    fault: ParameterFault
    action: str
    parameter: str


class History(msgspec.Struct, frozen=True):
    """Deeds in order, slips in order, how often each action's tool has worked, and the number of the attempt.

    `began` is the number of the first call of the attempt.
    """

    deeds: tuple[Deed, ...] = ()
    acts: tuple[ActSlip, ...] = ()
    parameters: tuple[ParameterSlip, ...] = ()
    calls_of: dict[str, int] = {}
    attempt: int = 1
    began: int = 1
