"""Judges calls that ended without a result, broken output schemas, and errors of code a tool was given."""

import json
import re
from functools import lru_cache
from typing import Literal, TypeAlias, assert_never

from msgspec.structs import replace

from misstep.core.results.finding import DIED
from misstep.core.results.trial import Judged, Ruling
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.judging.echoes import GivenValues
from misstep.fuzzing.judging.exceptions import judge_raised
from misstep.fuzzing.judging.reading import find_error, mentions
from misstep.fuzzing.judging.wording import in_short, load_wording, normalise
from misstep.schemas.schema import TOO_DEEP, TOO_MUCH, fits
from misstep.schemas.shape import mapping

UNREACHABLE = "the server can't be reached"  # how a workbench says that the server is gone

MUCH = 100_000  # characters of a result whose structured form may be too long to be kept

_PRINTED = re.compile(r"(a line that is not JSON): .*?(?=, which breaks clients|\Z)", re.DOTALL)

End: TypeAlias = Literal["hung", "exhausted", "died", "garbled"]


def judge_end(end: End, reaction: Reaction, size: int) -> Judged:
    """Judge how a call with `size` characters of arguments ended, as observed by the workbench."""
    detail = reaction.detail
    match end:
        case "hung":
            why = f"it did not answer and was stopped: {detail or 'timeout for one call'}"
            hang = _ended("hang", "hang", why, reaction)
            if not reaction.computed:
                return hang
            # A blow-up with the signature of the hang: it is the same defect on a slower machine.
            spent = f"{reaction.computed:.1f} seconds of processor time for {size:,} characters of arguments"
            why = f"it was still computing when it was stopped: {spent}"
            return replace(hang, ruling="blow-up", why=why, error="CPU")
        case "exhausted":
            why = f"it exceeded the memory limit: {detail or 'limit reached'}"
            return _ended("blow-up", "memory", why, reaction)
        case "died":
            return _judge_death(reaction)
        case "garbled":
            why = f"the reply breaks the protocol: {in_short(detail)}"
            sort = _PRINTED.sub(r"\1", detail)  # whatever is printed, it is one mistake
            return Judged("protocol", why, f"protocol: {normalise(sort)}", "protocol", message=in_short(sort))
        case _:
            assert_never(end)


def _judge_death(reaction: Reaction) -> Judged:
    said = in_short(reaction.detail)
    if reaction.detail.startswith(UNREACHABLE):
        return Judged("environment", said, "environment: unreachable", "unreachable")
    if mentions(load_wording().types.memory, reaction.detail) or "memory" in reaction.detail.lower():
        return _ended("blow-up", "memory", f"it was killed for lack of memory: {said}", reaction)
    return _ended("crash", DIED, f"its process died: {said or 'reason unknown'}", reaction)


def _ended(ruling: Ruling, error: str, why: str, reaction: Reaction) -> Judged:
    """A ruling whose signature contains the code location of the call, if known."""
    message = in_short(reaction.detail)
    if reaction.raised is not None and any(frame.own for frame in reaction.raised.frames):
        where = judge_raised(reaction.raised, GivenValues({})).where
        place = re.sub(r":\d+ in ", " in ", where) if ruling == "hang" else where  # any line of a loop
        return Judged(ruling, why, f"{error} at {place}", error, where, message)
    if error == DIED and (where := place_in_output(reaction.detail)):
        return Judged(ruling, why, f"{error} at {where}", error, where, message)
    said = "" if ruling == "hang" else normalise(_without_logs(reaction.detail))
    return Judged(ruling, why, f"{error}: {said}" if said else error, error, message=message)


_NODE_FRAME = re.compile(
    r"\bat (?:async |new )?([\w.$<>]+)[^(\n]* \((?!node:)(?:[^()\n]*[/\\])?([^()/\\\n]+:\d+):\d+\)"
)
_PYTHON_FRAME = re.compile(r'File "(?:[^"\n]*[/\\])?([^"/\\\n<>]+)", line (\d+), in (\w+)')


_MOST_AFTER = 8  # lines of an error itself after its stack trace; what was logged earlier is further away


def place_in_output(text: str) -> str:
    """The innermost place in the stack trace at the end of a text, as `file.py:12 in f`; empty if none."""
    where, is_settled, after = "", False, 0
    for line in text.splitlines():
        after += 1
        if frame := _PYTHON_FRAME.search(line):
            where, after = f"{frame[1]}:{frame[2]} in {frame[3]}", 0  # the innermost comes last
        elif not line.lstrip().startswith("at "):
            is_settled = False
        elif not is_settled and (frame := _NODE_FRAME.search(line)):
            where, is_settled, after = f"{frame[2]} in {frame[1]}", True, 0
        elif is_settled:
            after = 0
    return where if after <= _MOST_AFTER else ""


_ERROR = re.compile(r"\b(?:\w*(?:Error|Exception)|panic\w*|fatal|abort\w*|assert\w*)\b", re.IGNORECASE)


def _without_logs(detail: str) -> str:
    """How a process ended, and of what it printed before, only what names an error."""
    first, *printed = detail.splitlines() or [""]
    return "\n".join([first, *(line for line in printed if _ERROR.search(line))])


def broken_promise(described: Described, reaction: Reaction) -> Judged | None:
    """A ruling on a structured result that does not match the output schema, else None."""
    if described.output is None:
        return None
    if reaction.structured is None:
        if reaction.size > MUCH:  # a long one is not kept
            return None
        if described.kind != "mcp" or find_error(reaction.text, False) is not None:
            return None
        why = "it has an output schema, but its result has no structured content"
        return Judged("schema", why, "output: nothing structured", "output schema")
    try:
        value = json.loads(reaction.structured)
    except (ValueError, RecursionError) as error:
        why = f"its structured result is not JSON: {in_short(str(error))}"
        return Judged("schema", why, "output: no JSON", "output schema")
    misfit = fits(described.output, value)
    if misfit is None or misfit.endswith((TOO_DEEP.says, TOO_MUCH.says)):
        return None
    # A framework may convert results to text, if the schema allows it; None cannot be converted.
    may_be_text = described.kind not in ("function", "mcp") and value is not None
    if may_be_text and fits(described.output, "") is None:
        return None
    promise = "output schema" if described.kind == "mcp" else "type hint"
    why = f"its result does not match its {promise}: {in_short(misfit)}"
    return Judged("schema", why, f"output: {normalise(misfit)}", promise, message=in_short(misfit))


_RUNS_QUERIES = re.compile(r"(?:^|[_\W])(?:sql|query)(?:$|[_\W])", re.IGNORECASE)
_RUNS_CODE = re.compile(r"(?i)python|repl|shell|bash|interpreter|javascript|calculat|eval|notebook")
_SPEAKS_OF_ERRORS = re.compile(
    r"(?i)\b(?:errors?|exceptions?|logs?|logging|tracebacks?|crash(?:es)?|diagnos\w+|debug\w*|docs?"
    r"|documentation|issues?|bugs?|incidents?|search\w*|web|pages?|e-?mails?|messages?)\b"
)


def runs_what_it_is_given(described: Described) -> bool:
    """Whether the tool runs code, commands or queries, judged by its name and parameters."""
    return _runs(described.name, tuple(mapping(described.tool.parameters.get("properties"))))


def runs_queries(described: Described) -> bool:
    """Whether it runs only SQL or similar queries, which cannot raise Python errors."""
    code = {*load_wording().runners.parameters} - {"sql"}
    takes_code = not code.isdisjoint(described.tool.parameters.get("properties") or {})
    runs_code = takes_code or _RUNS_CODE.search(described.name)
    return _RUNS_QUERIES.search(described.name) is not None and not runs_code


def speaks_of_errors(described: Described) -> bool:
    """Whether the tool is about errors, logs, documentation or other texts that its replies quote."""
    said = f"{described.name.replace('_', ' ')} {described.tool.description}"
    return _SPEAKS_OF_ERRORS.search(said) is not None


@lru_cache(maxsize=1024)
def _runs(name: str, parameters: tuple[str, ...]) -> bool:
    runners = load_wording().runners
    return not {*runners.parameters}.isdisjoint(parameters) or re.search(runners.names, name) is not None
