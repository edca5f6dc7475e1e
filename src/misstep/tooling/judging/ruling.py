"""Rules on what came of a call: a defect of the tool, or one of the ways in which tools rightly react."""

import json
import re
from typing import Any, assert_never

from misstep.core.finding import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.core.words import cut
from misstep.schemas.schema import fits as misfit_of
from misstep.tooling.judging.allowance import is_beyond_schema
from misstep.tooling.judging.breaches import broken_demand, is_clear
from misstep.tooling.judging.echoes import normalise_for
from misstep.tooling.judging.given import Given
from misstep.tooling.judging.raised import judge_raised
from misstep.tooling.judging.reading import Told, find_error, is_echo, is_refusal, mentions, read_error
from misstep.tooling.judging.runners import runs_what_it_is_given
from misstep.tooling.judging.signatures import normalise
from misstep.tooling.judging.wording import load_wording

SHOWN = 300  # characters of a message within a reason
MUCH_MEMORY = 512 << 20  # bytes
MUCH_TEXT = 16 << 20  # characters
SMALL_INPUT = 1 << 16  # characters of arguments that explain neither

HIDDEN = "the agent is not told what was wrong (the MCP SDK passes on the words of a ToolError alone)"
UNREACHABLE = "the server can't be reached"  # how a workbench says that there is nobody to call any more

FINE = Judged("fine")


def judge(
    described: Described, invocation: Invocation, fits: bool, broken: str, reaction: Reaction
) -> Judged:
    """What the reaction of a tool to a call is, and why.

    `fits` says whether the arguments fit the tool's schema. `broken` is which demand of it they break, as in
    `minimum at amount`, for demands that nobody finds by looking at schema and arguments. An error in answer
    to what the schema forbids is a refusal, however clumsy.
    """
    judged = _judge(described, invocation, fits, broken, reaction)
    if judged.ruling == "crash" and not fits and reaction.ended != "died":
        said = f"{judged.error}: {judged.message}" if judged.message else judged.error
        return Judged(
            "refused", f"the schema forbids these arguments, and the tool did not take them: {said}"
        )
    return judged


def _judge(
    described: Described, invocation: Invocation, fits: bool, broken: str, reaction: Reaction
) -> Judged:
    match reaction.ended:
        case "returned":
            return _judge_returned(described, invocation, fits, broken, reaction)
        case "raised":
            return _judge_exception(described, invocation, fits, reaction)
        case "hung":
            why = f"it gave no answer and was given up: {reaction.detail or 'the time for one call was over'}"
            return _ended("hang", "hang", why, reaction)
        case "exhausted":
            why = f"it wanted more memory than it was allowed: {reaction.detail or 'the limit was reached'}"
            return _ended("blow-up", "memory", why, reaction)
        case "died":
            return _judge_death(reaction)
        case "garbled":
            why = f"what came back is no answer by the rules of the protocol: {_short(reaction.detail)}"
            return Judged(
                "protocol",
                why,
                f"protocol: {normalise(reaction.detail)}",
                "protocol",
                message=_short(reaction.detail),
            )
        case _:
            assert_never(reaction.ended)


def _judge_death(reaction: Reaction) -> Judged:
    if reaction.detail.startswith(UNREACHABLE):
        return Judged("environment", _short(reaction.detail), "environment: unreachable", "unreachable")
    if mentions(load_wording().types.memory, reaction.detail) or "memory" in reaction.detail.lower():
        return _ended(
            "blow-up", "memory", f"it was ended for want of memory: {_short(reaction.detail)}", reaction
        )
    why = f"the process that it ran in ended with it: {_short(reaction.detail) or 'nobody knows why'}"
    return _ended("crash", "process died", why, reaction)


def _ended(ruling: Any, error: str, why: str, reaction: Reaction) -> Judged:
    """A ruling on a call that never came back; where it was, if that is known, tells one from another."""
    if reaction.raised is not None and any(frame.own for frame in reaction.raised.frames):
        where = judge_raised(reaction.raised, Given({})).where
        place = re.sub(r":\d+ in ", " in ", where) if ruling == "hang" else where  # any line of a loop
        return Judged(ruling, why, f"{error} at {place}", error, where, _short(reaction.detail))
    said = "" if ruling == "hang" else normalise(reaction.detail)
    return Judged(ruling, why, f"{error}: {said}" if said else error, error, message=_short(reaction.detail))


def _judge_exception(described: Described, invocation: Invocation, fits: bool, reaction: Reaction) -> Judged:
    raised, given = reaction.raised, Given.of(invocation)
    if raised is None:
        return Judged("crash", "an exception left the tool", "exception", "exception")
    if not raised.frames and described.kind == "mcp":  # what a client says of an answer that is an error
        return _judge_words(described, raised.message, given, fits, bare=True)
    if raised.validation or load_wording().types.validation & {raised.kind, *raised.bases}:
        return _judge_refusal(described, raised.message, given, fits, raised.kind)
    return judge_raised(raised, given)


def _judge_returned(
    described: Described, invocation: Invocation, fits: bool, broken: str, reaction: Reaction
) -> Judged:
    if not reaction.flagged and (breach := _promise_broken(described, reaction)):
        return breach
    words = find_error(reaction.text, reaction.flagged) if _may_tell(described, reaction) else None
    if words is None and fits:
        return _blown_up(invocation, reaction) or FINE
    given = Given.of(invocation)
    if words is not None and (reaction.flagged or not _is_no_news(described, words, given)):
        return _judge_words(described, words, given, fits, reaction.flagged, reaction.detail)
    if words is None and described.kind != "function" and not is_refusal(reaction.text):
        demand = broken_demand(described.tool.parameters, given.arguments) or broken
        if is_clear(demand, described.tool.parameters, given.arguments):
            return _accepted(demand)
    return _blown_up(invocation, reaction) or FINE


def _may_tell(described: Described, reaction: Reaction) -> bool:
    """Whether a result may tell of an exception: a plain function that catches none has none to tell of."""
    if reaction.flagged or described.kind != "function" or described.source is None:
        return True
    text = described.source.text
    return "except" in text or text.lstrip().startswith("@")


def _is_no_news(described: Described, words: str, given: Given) -> bool:
    """Whether an error in a result is not the tool's: an echo, or what became of code that it was given."""
    return is_echo(words, given.texts) or runs_what_it_is_given(described)


def _accepted(broken: str) -> Judged:
    why = f"the schema forbids these arguments ({broken}), and it took them without a word"
    return Judged("acceptance", why, f"acceptance: {broken}", "silent acceptance", message=broken)


def _judge_words(
    described: Described, words: str, given: Given, fits: bool, bare: bool, detail: str = ""
) -> Judged:
    """A ruling on an error that a result tells of, or `detail` where the result keeps it to itself."""
    told = read_error(words, bare, given.texts)
    if told.error == "hidden exception" and "Traceback (most recent call last)" in detail:
        told = read_error(detail, True, given.texts)
    if told.sort == "crash" and bare and runs_what_it_is_given(described) and told.message == words.strip():
        told = Told("refused", told.message)
    message = _short(told.message)
    match told.sort:
        case "validation":
            if re.search(load_wording().beyond.unknown_tool, message) or not told.layer:
                return _refusal(message)
            return _judge_refusal(described, told.message, given, fits, told.error)
        case "output":
            why = f"it gave a result that is not what its output schema promises: {message}"
            return Judged(
                "schema",
                why,
                f"output: {normalise_for(told.message, given)}",
                "output schema",
                message=message,
            )
        case "environment":
            return Judged(
                "environment", f"{told.why}: {message}", f"environment: {told.why}", message=message
            )
        case "crash":
            why = (
                f"an exception left the tool, and {HIDDEN}: {message}"
                if told.error == "hidden exception"
                else f"it let an exception through to whoever called it ({told.error}): {message}"
            )
            return Judged("crash", why, _signature(told, given), told.error, message=message)
        case "refused":
            return _refusal(message)


def _signature(told: Told, given: Given) -> str:
    """Which defect it is, going by the words alone."""
    if told.error in load_wording().types.reading:
        return told.error
    return f"{told.error}: {normalise_for(told.message, given)}"


def _judge_refusal(described: Described, message: str, given: Given, fits: bool, error: str) -> Judged:
    """A ruling on arguments that were refused before the tool saw them."""
    if not fits:
        return Judged("refused", f"the arguments do not fit the schema, and were refused: {_short(message)}")
    if reason := is_beyond_schema(described.tool.parameters, message, given):
        return Judged("refused", f"the arguments were refused, {reason}: {_short(message)}")
    why = f"the arguments fit the schema that it advertises, and were refused all the same: {_short(message)}"
    return Judged("schema", why, f"refused: {normalise_for(message, given)}", error, message=_short(message))


def _refusal(message: str) -> Judged:
    return Judged("refused", f"the tool said what was wrong, which is an answer and no defect: {message}")


def _promise_broken(described: Described, reaction: Reaction) -> Judged | None:
    """A ruling on a structured result that is not what the output schema promises."""
    if described.output is None:
        return None
    if reaction.structured is None:
        if described.kind != "mcp" or find_error(reaction.text, False) is not None:
            return None
        why = "it has an output schema, and gave a result without structured content"
        return Judged("schema", why, "output: nothing structured", "output schema")
    try:
        value = json.loads(reaction.structured)
    except (ValueError, RecursionError) as error:
        why = f"its structured result is no JSON: {_short(str(error))}"
        return Judged("schema", why, "output: no JSON", "output schema")
    misfit = misfit_of(described.output, value)
    if misfit is None:
        return None
    why = f"its structured result is not what its output schema promises: {_short(misfit)}"
    return Judged("schema", why, f"output: {normalise(misfit)}", "output schema", message=_short(misfit))


def _blown_up(invocation: Invocation, reaction: Reaction) -> Judged | None:
    if len(invocation.arguments) > SMALL_INPUT:
        return None
    given = f"for {len(invocation.arguments):,} characters of arguments"
    if reaction.memory >= MUCH_MEMORY:
        why = f"it took {reaction.memory >> 20:,} MB of memory {given}"
        return Judged("blow-up", why, "memory", "memory", message=why)
    if reaction.size >= MUCH_TEXT:
        why = f"it returned {reaction.size:,} characters {given}"
        return Judged("blow-up", why, "size of the result", "size", message=why)
    return None


def _short(text: str) -> str:
    return cut(" ".join(text.split()), SHOWN)
