"""An experiment of the PDoctor paper, carried out again with other agents."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from misstep.core.breakdown import Breakdown
from misstep.core.capability import Capability
from misstep.core.diagnosis import Dissection
from misstep.core.summary import Summary

Question = Literal["rq1", "rq2", "rq3"]


class Effectiveness(msgspec.Struct, frozen=True):
    """What an agent did in a given time, as in Table 2; `seconds` is how long it was, of which synthesis took
    so many."""

    summary: Summary
    synthesis_seconds: float
    seconds: float


class Replication(msgspec.Struct, frozen=True):
    """What `misstep paper RQ --json` prints: of each agent, what the question asks for.

    `topics` counts the failures that a topic is to blame for, by the topic, of all agents together;
    `breakdowns` says of each agent which topics it fails on more often than on others.
    """

    question: Question
    effectiveness: tuple[Effectiveness, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    dissections: tuple[Dissection, ...] = ()
    topics: Mapping[str, int] = {}
    breakdowns: tuple[Breakdown, ...] = ()
