"""The way of a tool's defect through an agent: whether a natural request leads there."""

from typing import Literal

import msgspec

from misstep.core.trial import Trial

Fate = Literal[
    "undocumented",  # the agent, told to make the call, would not: its documentation does not allow it
    "unmet",  # natural requests were made, and none led to an error
    "reached",
    "inconclusive",  # a model or the agent gave nothing that could be judged
]

FATES: tuple[Fate, ...] = ("undocumented", "unmet", "reached", "inconclusive")


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far one defect got; `finding` is the id of the fuzzer's, empty for requests that began with none.

    `rehearsal` is the agent told to make the very calls, `trials` are the requests with the real tools.
    """

    finding: str
    fate: Fate
    why: str = ""
    rehearsal: Trial | None = None
    requests: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
