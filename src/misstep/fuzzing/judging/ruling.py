"""Judges the reaction to a call: a defect of the tool, or one of the correct ways to react."""

import json
import re
from collections.abc import Callable, Sequence
from typing import assert_never

from msgspec import structs

from misstep.core.results.trial import REFUSED, Judged, Ruling
from misstep.core.tool import Described, Invocation, Raised, Reaction
from misstep.fuzzing.judging import demands, endings, reading
from misstep.fuzzing.judging.echoes import GivenValues, normalise_for, place_of
from misstep.fuzzing.judging.exceptions import is_told_in, judge_raised
from misstep.fuzzing.judging.reading import ErrorReading, read_error
from misstep.fuzzing.judging.wording import in_short, load_wording
from misstep.fuzzing.returned import is_returned

ANY_ERROR = ("Error", "Exception", "Warning")  # type names that any message may contain
MUCH_MEMORY = 512 << 20  # bytes
MUCH_TEXT = 16 << 20  # characters
SMALL_INPUT = 1 << 16  # characters of arguments that explain neither

# How validation by a schema refuses an argument; rules of a tool in its own words are another matter.
_BY_SCHEMA = re.compile(
    r"(?i)\b(?:must|should|expect(?:ed|s)?|is not|not an?|needs?|requires?)\b.{0,40}"
    r"\b(?:strings?|texts?|numbers?|integers?|booleans?|arrays?|lists?|objects?|null)\b"
    r"|\b(?:must|should)(?: not)? (?:be|have) (?:[<>]"
    r"|(?:less|greater|more|fewer|shorter|longer) than\b|at (?:least|most)\b)"
    r"|is a required property|field required|\"code\": *\"(?!custom)"
)
HIDDEN = "the agent is not told what was wrong (the MCP SDK forwards only the message of a ToolError)"

_UNKNOWN_NAME = re.compile(r"\bname '(\w+)' is not defined")

FINE = Judged("fine")


def judge(
    described: Described, invocation: Invocation, fits: bool, broken: str, reaction: Reaction
) -> Judged:
    """Judge a tool's reaction to a call, and say why.

    `fits` says whether the arguments fit the tool's schema. `broken` is the constraint they violate, as in
    `minimum at amount`, for violations that cannot be found from schema and arguments. An error in response
    to arguments that the schema forbids is always a refusal.
    """
    given, size = GivenValues.of(invocation), len(invocation.arguments)
    match reaction.ended:
        case "returned":
            judged = _judge_returned(described, given, size, fits, broken, reaction)
        case "raised":
            judged = _judge_exception(described, given, fits, reaction.raised)
        case "hung" | "exhausted" | "died" | "garbled" as end:
            judged = endings.judge_end(end, reaction, size)
        case _:
            assert_never(reaction.ended)
    excuse = ""
    if judged.ruling in ("hang", "blow-up"):
        excuse = demands.searches_everything(described, given)
    if judged.ruling == "hang":
        excuse = excuse or demands.asked_to_take_long(described, given, reaction.seconds)
    elif judged.ruling == "crash" and reaction.ended in ("returned", "raised"):
        excuse = demands.refused_by_system(reaction, given)
    if excuse:
        ruling: Ruling = "refused" if judged.ruling == "crash" else "fine"
        return Judged(ruling, f"{excuse}: {judged.message}", error=judged.error, message=judged.message)
    if judged.ruling == "refused" and fits:
        return _suspected(judged, described, given, reaction.raised)
    if judged.ruling == "crash" and not fits and reaction.ended != "died":
        said = f"{judged.error}: {judged.message}" if judged.message else judged.error
        return Judged("refused", f"the schema forbids these arguments, and the tool refused them: {said}")
    return judged


def _suspected(judged: Judged, described: Described, given: GivenValues, raised: Raised | None) -> Judged:
    if not judged.message or (raised is None and endings.runs_what_it_is_given(described)):
        return judged
    words = judged.message if raised is None or not raised.frames else raised.message
    if not (reason := demands.find_suspicion(described, words, given, judged.error)):
        return judged
    error = judged.error or "refusal"
    signature = judged.signature or f"{error}: {normalise_for(judged.message, given)}"
    why = f"the arguments match the schema and were refused, but {reason}"
    where = place_of(raised) if raised is not None else ""
    return Judged("suspicious-refusal", why, signature, error, where, judged.message)


def _judge_exception(described: Described, given: GivenValues, fits: bool, raised: Raised | None) -> Judged:
    if raised is None:
        return Judged("crash", "unhandled exception", "exception", "exception")
    if not raised.frames and described.kind == "mcp":  # a client's message about an error reply
        if raised.validation:
            return _judge_refusal(described, raised.message, given, fits, raised.kind)
        return _judge_words(described, raised.message, given, fits, bare=True)
    if raised.validation or load_wording().types.validation & {raised.kind, *raised.bases}:
        return _judge_refusal(described, raised.message, given, fits, raised.kind)
    return judge_raised(raised, given)


def _judge_returned(
    described: Described, given: GivenValues, size: int, fits: bool, broken: str, reaction: Reaction
) -> Judged:
    # What a function does with arguments that nobody validates proves nothing.
    trusted = fits or described.kind == "mcp"
    if trusted and not reaction.flagged and (breach := endings.broken_promise(described, reaction)):
        return breach
    if reaction.handled and (caught := _judge_handled(described, given, reaction)):
        return caught
    may_tell = _may_tell(described, reaction)
    words = reading.find_error(reaction.text, reaction.flagged) if may_tell else None
    if words is None and fits:
        told = _find_caught(described, reaction.text, given) if may_tell else None
        return (_judge_told(told, given) if told else _blown_up(size, reaction)) or FINE
    if words is not None and (reaction.flagged or not _is_no_news(described, words, given)):
        return _judge_words(described, words, given, fits, reaction.flagged, reaction.detail)
    if words is None and described.kind != "function" and not reading.is_refusal(reaction.text):
        demand = demands.broken_demand(described.tool.parameters, given.arguments) or broken
        if demands.is_clear(demand, described.tool.parameters, given.arguments):
            why = f"the schema forbids these arguments ({demand}), but the tool accepted them"
            return Judged("acceptance", why, f"acceptance: {demand}", "silent acceptance", message=demand)
    return _blown_up(size, reaction) or FINE


def _judge_handled(described: Described, given: GivenValues, reaction: Reaction) -> Judged | None:
    """Judge an exception that the tool caught and reported; None if that is a proper answer."""
    if endings.runs_what_it_is_given(described) and not endings.runs_queries(described):
        return None
    for raised in reaction.handled:
        judged = judge_raised(raised, given)
        is_slip = raised.kind in {*load_wording().types.crash, "TypeError"} and "Unicode" not in raised.kind
        is_named = raised.kind in reaction.text and raised.kind not in ANY_ERROR
        if judged.ruling != "crash":
            continue
        # Other errors than programming errors are about the arguments, or come from the system.
        if not is_slip and (not is_named or demands.names_call(described, raised.message, given)):
            continue
        if is_told_in(reaction.text, raised, given, by_name=not endings.speaks_of_errors(described)):
            place = f" at {judged.where.partition(' in ')[0]}" if judged.where else ""
            said = f"was caught and returned in the reply: {in_short(reaction.text)}"
            return structs.replace(judged, why=f"{raised.kind}{place} {said}")
    return None


def _find_caught(described: Described, text: str, given: GivenValues) -> ErrorReading | None:
    """An exception that a reply is about; one that says that a text has another format is a good answer."""
    if endings.speaks_of_errors(described) or endings.runs_what_it_is_given(described):
        return None
    for words in reading.find_caught(text):
        told = read_error(words, False, given.texts)
        is_clear = told.error in load_wording().types.reading or _is_about_given_name(told, given)
        if told.sort == "crash" and told.error != "exception without words" and not is_clear:
            return told
    return None


def _is_about_given_name(told: ErrorReading, given: GivenValues) -> bool:
    """Whether an error is about a name in what was given, such as a formula."""
    unknown = _UNKNOWN_NAME.search(told.message)
    return unknown is not None and any(unknown[1] in re.findall(r"\w+", each) for each in given.texts)


def _may_tell(described: Described, reaction: Reaction) -> bool:
    """Whether a result may report an exception: a plain function without `except` cannot."""
    if reaction.flagged or described.kind != "function" or described.source is None:
        return True
    return "except" in described.source.text or described.source.text.lstrip().startswith("@")


def _is_no_news(described: Described, words: str, given: GivenValues) -> bool:
    """Whether an error in a result is not the tool's: an echo, or an error of code it was given."""
    if reading.is_echo(words, given.texts):
        return True
    return _is_about_code(described, words, given) and read_error(words, False, given.texts).sort == "crash"


def _is_about_code(described: Described, words: str, given: GivenValues) -> bool:
    """Whether an error belongs to code that the tool was given; queries cannot raise Python errors."""
    if not endings.runs_what_it_is_given(described):
        return False
    return not endings.runs_queries(described) or read_error(words, False, given.texts).sort != "crash"


def _judge_words(
    described: Described, words: str, given: GivenValues, fits: bool, bare: bool, detail: str = ""
) -> Judged:
    """Judge an error that a result reports, or the one in `detail` if the result hides it."""
    told = read_error(words, bare, given.texts)
    if told.error == "hidden exception" and "Traceback (most recent call last)" in detail:
        told = read_error(detail, True, given.texts)
    is_whole = bare and told.message == reading.without_wrappers(words.strip())
    is_theirs = is_whole and _is_about_code(described, words, given)
    if told.sort == "crash" and (is_theirs or _is_about_given_name(told, given)):
        told = ErrorReading("refused", told.message)
    if told.sort == "refused":
        told = _find_caught(described, words, given) or told
    is_layer = told.sort == "validation" and told.layer
    if is_layer and not re.search(load_wording().beyond.unknown_tool, in_short(told.message)):
        return _judge_refusal(described, told.message, given, fits, told.error)
    return _judge_told(told, given)


def _judge_told(told: ErrorReading, given: GivenValues) -> Judged:
    """Judge an error by its sort; refusals are assumed to be correct."""
    message = in_short(told.message)
    match told.sort:
        case "validation" | "refused":
            why = f"the tool reported what was wrong, which is not a defect: {message}"
            return Judged("refused", why, message=message)
        case "output":
            why = f"its result does not match its output schema: {message}"
            signature = f"output: {normalise_for(told.message, given)}"
            return Judged("schema", why, signature, "output schema", message=message)
        case "environment":
            why, signature = f"{told.why}: {message}", f"environment: {told.why}"
            return Judged("environment", why, signature, message=message)
        case "crash" if told.error == "hidden exception":
            why = f"unhandled exception, and {HIDDEN}: {message}"
        case "crash":
            why = f"unhandled exception reached the caller ({told.error}): {message}"
        case _:
            assert_never(told.sort)
    signature = told.error
    if told.error not in load_wording().types.reading:
        signature = f"{told.error}: {normalise_for(told.message, given)}"
    return Judged("crash", why, signature, told.error, message=message)


# Prompts and resources, whose arguments are texts: names of tools have neither sign.
_BESIDE_TOOLS = re.compile(r"[\w-]*[:/]")


def _judge_refusal(described: Described, message: str, given: GivenValues, fits: bool, error: str) -> Judged:
    """Judge arguments that were refused before the tool ran."""
    said = in_short(message)
    if any(is_returned(value) for value in given.arguments.values()):
        return Judged("refused", f"a value that an earlier call returned was refused: {said}")
    if not fits:
        return Judged("refused", f"the arguments do not match the schema and were refused: {said}")
    if described.kind == "mcp" and _BESIDE_TOOLS.match(described.name):
        return Judged("refused", f"no schema says what is accepted here: {said}")
    if reason := demands.excuse_for(described.tool.parameters, message, given):
        return Judged("refused", f"the arguments were refused, {reason}: {said}")
    if demands.states_limit(described, message):
        return Judged("refused", f"the arguments exceed a limit that the documentation states: {said}")
    if described.kind == "mcp" and not _BY_SCHEMA.search(message):
        return Judged("refused", f"the server checks more than types: {said}")
    why = f"the arguments match its schema, but were refused: {said}"
    return Judged("schema", why, f"{REFUSED}{normalise_for(message, given)}", error, message=said)


def _blown_up(size: int, reaction: Reaction) -> Judged | None:
    if size > SMALL_INPUT:
        return None
    given = f"for {size:,} characters of arguments"
    if reaction.memory >= MUCH_MEMORY:
        why = f"it used {reaction.memory >> 20:,} MB of memory {given}"
        return Judged("blow-up", why, "memory", "memory", message=why)
    if reaction.size >= MUCH_TEXT:
        why = f"it returned {reaction.size:,} characters {given}"
        return Judged("blow-up", why, "size of the result", "size", message=why)
    return None


def judge_calls_of(tools: Sequence[Described]) -> Callable[[Invocation, Reaction], Judged]:
    """A judge for calls of these tools that validates the arguments itself, as for replays."""
    by_name = {described.name: described for described in tools}

    def rule(invocation: Invocation, reaction: Reaction) -> Judged:
        described = by_name[invocation.tool]
        broken = demands.broken_demand(described.tool.parameters, json.loads(invocation.arguments))
        return judge(described, invocation, not broken, broken, reaction)

    return rule
