"""Values that may make a tool do what it should not: read and write elsewhere, run what it is given.

What shows it is a text that nobody gets otherwise: in a file outside the tools' folder, in an environment
variable, or as the result of a computation in the value.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from misstep.core.secrets import CANARY
from misstep.core.tool import Described, Path
from misstep.fuzzing.contracts.steps import (
    Breach,
    Experiments,
    Step,
    Toolkit,
    call_of,
    is_fine,
    parameters,
)
from misstep.fuzzing.judging.endings import runs_queries, runs_what_it_is_given, speaks_of_errors
from misstep.fuzzing.search.sequences import stage_of
from misstep.schemas.samples import words_of

SECRET = "misstep-canary-of-another-folder"
OUTSIDE = ("outside/secret.txt", "work-other/secret.txt")  # beside the tools' folder
LINK = "shortcut"  # in the tools' folder, to the first of them
COMPUTED = "misstep-42-canary"
_SHELL = "echo misstep-$((40+2))-canary"
_SQL = "'misstep-'||(40+2)||'-canary'"
# Unquoted, in double quotes, or in a template; in a template literal; in single quotes.
_QUOTED = f"'; {_SHELL}; '"
_PAYLOADS = (
    f"$({_SHELL}) misstep-{{{{40+2}}}}-canary misstep-{{40+2}}-canary",
    "misstep-${40+2}-canary",
    f"x; {_SHELL}",
    _QUOTED,
)
# Tried where a quotation mark makes a difference.
_QUERIES = (
    *(f"x' UNION SELECT {', '.join([_SQL] * columns)} --" for columns in (1, 2, 3, 4)),
    f'x" UNION SELECT {_SQL} --',
)
_ALL = frozenset((*_PAYLOADS, *_QUERIES))
_MOST_PARAMETERS = 3  # of a tool that get them
_PATH_WORDS = frozenset(("path", "file", "filename", "filepath", "folder", "directory", "dir", "uri"))
# One denied path in a result about several; isError is not set.
_DENIED = re.compile(r"\b(?:denied|not allowed|not permitted|forbidden|outside (?:of )?the)\b", re.I)
_NOT_THERE = re.compile(r"not found|no such (?:file|directory)|does(?: not|n.t) exist|ENOENT", re.I)
_BY_DESIGN = re.compile(r"\b(?:shell|command|execut|eval|expression|template|calculat|script|code|sql)", re.I)
_SHOWS_VARIABLES = re.compile(r"\b(?:env(?:ironment)?|variables?|config\w*|settings?|debug\w*)\b", re.I)
# Lines of stack traces; of Python's, Java's, Go's and Rust's, those that name a file on the server.
_FRAME = re.compile(
    r"^\s+at .+[/\\][^/\\\s]+\.[cm]?[jt]s:\d+:\d+\)?$"
    r'|^\s+File "[^"]*/[^"]+\.py", line \d+, in \S+'
    r"|^\s+at [\w.$]+\.[\w$<>]+\([\w$]+\.(?:java|kt|scala):\d+\)$"
    r"|^\s+/\S+\.go:\d+(?: \+0x[0-9a-f]+)?$"
    r"|^\s+at \S*/\S+\.rs:\d+(?::\d+)?$",
    re.MULTILINE,
)
_ENOUGH_FRAMES = 2


def experiments(kit: Toolkit) -> Experiments:
    for name, described in kit.tools.items():
        base, own = kit.base(name) or {}, parameters(described)
        texts = [each for each in base if isinstance(base[each], str) and "enum" not in own.get(each, {})]
        for parameter in texts[:_MOST_PARAMETERS]:
            if kit.folder and _names_a_file(parameter):
                yield from _ways_out(name, base, (parameter,), kit.folder)
            if not _runs_by_design(described):
                yield from _injections(name, base, parameter)
        if kit.folder:
            yield from _ways_out_deeper(kit, name)


def _injections(tool: str, base: Mapping[str, Any], parameter: str) -> Experiments:
    steps = None
    for payload in _PAYLOADS:
        steps = yield (call_of(tool, {**base, parameter: payload}),)
    for payload in () if is_fine(steps) else _QUERIES:
        yield (call_of(tool, {**base, parameter: payload}),)


def _ways_out_deeper(kit: Toolkit, tool: str) -> Experiments:
    """The same for paths in lists and objects, of the shortest call that has some."""
    accepted = (json.loads(calls[-1].arguments) for calls in sorted(kit.accepted.get(tool, ()), key=len))
    for base, places in ((base, [*_inner_paths(base)][:_MOST_PARAMETERS]) for base in accepted):
        for place in places:
            yield from _ways_out(tool, base, place, kit.folder)
        if places:
            return


def _inner_paths(value: Any, place: Path = ()) -> Iterator[Path]:
    """Where files are named in lists and objects; of a list, its first item."""
    if isinstance(value, str) and len(place) > 1:
        names = [each for each in place if isinstance(each, str)]
        yield from [place] if _names_a_file(names[-1]) else ()
    elif isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value[:1])
        for key, each in inner:
            yield from _inner_paths(each, (*place, key))


def _names_a_file(parameter: str) -> bool:
    words = words_of(parameter.replace("directories", "directory"))
    return any({word, word.removesuffix("s")} & _PATH_WORDS for word in words)


def _put(text: str, value: Any, place: Path) -> Any:
    """The value with a text in a place; of a list, only the item with it."""
    if not place:
        return text
    inner = _put(text, value[place[0]], place[1:])
    return {**value, place[0]: inner} if isinstance(value, dict) else [inner]


def _text_at(value: Any, place: Path) -> str:
    for key in place:
        value = value[key]
    return str(value)


def _ways_out(tool: str, base: Mapping[str, Any], place: Path, folder: str) -> Experiments:
    """Paths to what is elsewhere; the one that gets there follows a plain one, which has to be refused."""
    outside = os.path.join(os.path.dirname(folder), OUTSIDE[0])
    plain = call_of(tool, _put(outside, base, place))
    steps = yield (plain,)
    if steps and _is_out(steps[-1]):
        return  # the tool may go there
    for path in _spellings(folder, _text_at(base, place)):
        other = call_of(tool, _put(path, base, place))
        steps = None
        if stage_of(tool) == 1:  # what a call has changed, it can't change again
            steps = yield (other,)
        if not steps or _is_out(steps[-1]):
            yield (plain, other)


def _spellings(folder: str, value: str) -> Iterator[str]:
    above, (name, sibling) = os.path.dirname(folder), OUTSIDE
    outside, below = os.path.join(above, name), os.path.dirname(value) or "."
    yield f"../{name}"
    yield os.path.join(above, sibling)  # whose name begins like that of the folder
    yield f"{below}/{'../' * 12}{outside.lstrip('/')}"
    yield f"{folder}/../{name}"
    yield f"{LINK}/{os.path.basename(name)}"
    yield f"{folder}/{LINK}/{os.path.basename(name)}"
    yield f"file://{outside}"
    yield f"..%2f{name.replace('/', '%2f')}"
    yield f"%2e%2e/{name}"
    yield f"..\\{name.replace('/', chr(92))}"
    yield ""


def _runs_by_design(described: Described) -> bool:
    said = f"{described.name.replace('_', ' ')} {described.tool.description}"
    return runs_what_it_is_given(described) or runs_queries(described) or bool(_BY_DESIGN.search(said))


def find_breach(steps: Sequence[Step]) -> Breach | None:
    last = steps[-1]
    return _got_out(steps) or _ran_it(last) or _tells_secret(steps) or _shows_stack(last)


def _got_out(steps: Sequence[Step]) -> Breach | None:
    """Whether a folder that is closed to a plain path is open to another one."""
    if len(steps) < 2:
        return None
    plain, last = steps[-2:]
    is_denied = not plain.is_fine or _DENIED.search(plain.said)
    if plain.name != last.name or not is_denied or _is_out(plain) or not _is_out(last):
        return None
    if _NOT_THERE.search(plain.said):
        return None  # a path may be read as relative to a folder of the caller's choice
    changed = _changed_outside(last)
    did = f"changed {changed[0]}" if changed else "returned a file outside the folders that it keeps to"
    return Breach("path outside", last.name, "", f"a plain path was refused, but this one {did}")


def _is_out(step: Step) -> bool:
    return SECRET in step.reaction.text or bool(_changed_outside(step))


def _changed_outside(step: Step) -> list[str]:
    beside = tuple(f"../{os.path.dirname(name)}" for name in OUTSIDE)
    return [change.path for change in step.reaction.changes if change.path.startswith(beside)]


def _ran_it(step: Step) -> Breach | None:
    """Whether a value was computed; where it is quoted, it is as it was given."""
    values = [value for value in step.arguments.values() if isinstance(value, str) and value in _ALL]
    if not values or COMPUTED not in step.said or _runs_by_design(step.tool):
        return None
    return Breach("injection", step.name, "", f"a value was executed: the result holds {COMPUTED}")


def _tells_secret(steps: Sequence[Step]) -> Breach | None:
    """Whether the value of an environment variable is returned by a tool whose purpose isn't to show them."""
    last = steps[-1]
    about = f"{last.name.replace('_', ' ')} {last.tool.tool.description}"
    if CANARY not in last.said or _SHOWS_VARIABLES.search(about) or _runs_by_design(last.tool):
        return None
    effect = "the result holds a key from the server's environment, which no call asked for"
    return Breach("secret", last.name, "", effect)


def _shows_stack(step: Step) -> Breach | None:
    if len(_FRAME.findall(step.said)) < _ENOUGH_FRAMES or step.reaction.ended not in ("returned", "raised"):
        return None
    if _FRAME.search("\n".join(_texts(step))) or (step.is_fine and speaks_of_errors(step.tool)):
        return None
    return Breach("stack trace", step.name, "", "the result holds a stack trace, with paths on the server")


def _texts(step: Step) -> list[str]:
    return [value if isinstance(value, str) else json.dumps(value) for value in step.arguments.values()]
