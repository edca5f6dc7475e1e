"""Rules on calls that never came to an answer."""

import re
from typing import Literal, TypeAlias, assert_never

from msgspec.structs import replace

from misstep.core.finding import DIED
from misstep.core.ruling import Judged, Ruling
from misstep.core.tool import Reaction
from misstep.tooling.judging.exceptions.raised import judge_raised
from misstep.tooling.judging.words.given import Given
from misstep.tooling.judging.words.plain import in_short, normalise
from misstep.tooling.judging.words.reading import mentions
from misstep.tooling.judging.words.wording import load_wording

UNREACHABLE = "the server can't be reached"  # how a workbench says that there is nobody to call any more

End: TypeAlias = Literal["hung", "exhausted", "died", "garbled"]


def judge_end(end: End, reaction: Reaction, size: int) -> Judged:
    """A ruling on how a call with arguments of so many characters ended, as the workbench saw it."""
    detail = reaction.detail
    match end:
        case "hung":
            why = f"it gave no answer and was given up: {detail or 'the time for one call was over'}"
            hang = _ended("hang", "hang", why, reaction)
            return _computing(hang, reaction.computed, size) if reaction.computed else hang
        case "exhausted":
            why = f"it wanted more memory than it was allowed: {detail or 'the limit was reached'}"
            return _ended("blow-up", "memory", why, reaction)
        case "died":
            return _judge_death(reaction)
        case "garbled":
            said = in_short(detail)
            why = f"what came back is no answer by the rules of the protocol: {said}"
            return Judged("protocol", why, f"protocol: {normalise(detail)}", "protocol", message=said)
        case _:
            assert_never(end)


def _computing(hang: Judged, seconds: float, size: int) -> Judged:
    """A blow-up with the signature of the hang: it is one defect, however busy the machine was."""
    why = (
        f"it computed until it was given up: {seconds:.1f} seconds of processor time "
        f"for {size:,} characters of arguments"
    )
    return replace(hang, ruling="blow-up", why=why, error="CPU")


def _judge_death(reaction: Reaction) -> Judged:
    said = in_short(reaction.detail)
    if reaction.detail.startswith(UNREACHABLE):
        return Judged("environment", said, "environment: unreachable", "unreachable")
    if mentions(load_wording().types.memory, reaction.detail) or "memory" in reaction.detail.lower():
        return _ended("blow-up", "memory", f"it was ended for want of memory: {said}", reaction)
    why = f"the process that it ran in ended with it: {said or 'nobody knows why'}"
    return _ended("crash", DIED, why, reaction)


def _ended(ruling: Ruling, error: str, why: str, reaction: Reaction) -> Judged:
    """A ruling in which the place where the call was, if that is known, tells one defect from another."""
    message = in_short(reaction.detail)
    if reaction.raised is not None and any(frame.own for frame in reaction.raised.frames):
        where = judge_raised(reaction.raised, Given({})).where
        place = re.sub(r":\d+ in ", " in ", where) if ruling == "hang" else where  # any line of a loop
        return Judged(ruling, why, f"{error} at {place}", error, where, message)
    said = "" if ruling == "hang" else normalise(reaction.detail)
    return Judged(ruling, why, f"{error}: {said}" if said else error, error, message=message)
