"""An attempt to reach a defect of a tool through an agent by a natural request."""

from typing import Literal, get_args

import msgspec

from misstep.core.trial import Trial

ReachOutcome = Literal[
    "undocumented",  # the agent, told to make the call, would not: its documentation does not allow it
    "unmet",  # natural requests were made, and none led to an error
    "expected",  # one led to a refusal, as whoever has read the documentation would expect
    "reached",
    "inconclusive",  # a model or the agent gave nothing that could be judged
]

FATES: tuple[ReachOutcome, ...] = get_args(ReachOutcome)

# What was put to the agent: a defect that fuzzing found, a refusal, or a request that began with neither.
Matter = Literal["defect", "refusal", "request"]


class ReachAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far one defect got; `finding` is the id of the fuzzer's, empty for requests that began with none.

    `documented` says whether the agent would make the calls; it is None where nobody asked, or nobody knows.
    `rehearsal` is the agent told to make the very calls, `trials` are the requests with the real tools.
    """

    finding: str
    fate: ReachOutcome
    why: str = ""
    matter: Matter = "defect"
    documented: bool | None = None
    rehearsal: Trial | None = None
    requests: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
