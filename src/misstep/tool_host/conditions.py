"""The conditions under which tools are tried."""

import sys
from typing import Literal

import msgspec

from misstep.core.descriptions import Wording
from misstep.tool_host.protocol import Limits

Shelter = Literal["auto", "bubblewrap", "none"]


class Conditions(msgspec.Struct, frozen=True):
    """How the user wants tools to be called.

    `workspace` is a folder that is copied to where they start. `folder` is one on the disk in which they
    start themselves, for a caller who has to see what they do there: what is in it is never put back.
    `allow_read` are files and folders that they can read beside their own.
    `environment` are variables beside the few that tools get anyway, among which no keys are.
    `load_limit` are the seconds until tools have to be there; servers may take longer than code.
    `only` are the names of the tools that will be called; all of them if there are none. `wordings` are what
    agents are told about tools in other words, by their names.
    """

    shelter: Shelter = "auto"
    limits: Limits = Limits()
    allow_network: bool = False
    workspace: str = ""
    folder: str = ""
    allow_read: tuple[str, ...] = ()
    python: str = sys.executable
    environment: dict[str, str] = {}
    load_limit: float | None = None
    only: tuple[str, ...] = ()
    wordings: dict[str, Wording] = {}
