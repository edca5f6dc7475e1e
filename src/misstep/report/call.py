"""A call in words."""

import json

from misstep.core.transcript import Call
from misstep.report.text import plain

LONGEST = 200  # of a name, in characters


def written(tool: str, arguments: object, most: int = LONGEST) -> str:
    """The call as one would type it, its arguments cut to so many characters."""
    given = "" if arguments == {} else plain(json.dumps(arguments, ensure_ascii=False), most)
    return f"{plain(tool, LONGEST)}({given})"


def carried_out(call: Call) -> str:
    """What there is to say about a call that was not carried out when it was asked for."""
    if call.ran < 0:
        return "(never carried out)"
    return f"(carried out as number {call.ran})" if call.ran else ""
