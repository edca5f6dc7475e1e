"""Values that may make a tool do what it should not: read and write elsewhere, run what it is given.

What shows it is a text that nobody gets otherwise: in a file outside the tools' folder, or as the result of a
computation in the value.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from misstep.core.tool import Described
from misstep.fuzzing.contracts.steps import Breach, Calls, Step, Toolkit, call_of, parameters
from misstep.fuzzing.judging.endings import runs_queries, runs_what_it_is_given
from misstep.schemas.samples import words_of

SECRET = "misstep-canary-of-another-folder"
OUTSIDE = ("outside/secret.txt", "work-other/secret.txt")  # beside the tools' folder
LINK = "linked.txt"  # in the tools' folder, to the first of them
COMPUTED = "misstep-42-canary"
_SHELL = "echo misstep-$((40+2))-canary"
_SQL = "'misstep-'||(40+2)||'-canary'"
_PAYLOADS = (
    f"x; {_SHELL}",
    f"$({_SHELL})",
    f"`{_SHELL}`",
    f'"; {_SHELL}; "',
    f"'; {_SHELL}; '",
    f"x' UNION SELECT {_SQL} --",
    f"x' UNION SELECT {_SQL}, {_SQL} --",
    f"x' UNION SELECT {_SQL}, {_SQL}, {_SQL} --",
    f'x" UNION SELECT {_SQL} --',
    "misstep-{{40+2}}-canary",
    "misstep-${40+2}-canary",
    "misstep-{40+2}-canary",
)
_PATH_WORDS = frozenset(("path", "file", "filename", "filepath", "folder", "directory", "dir", "uri"))
_BY_DESIGN = re.compile(r"\b(?:shell|command|execut|eval|expression|template|calculat|script|code|sql)", re.I)
_FRAME = re.compile(r"^\s+at .+[/\\][^/\\\s]+\.[cm]?[jt]s:\d+:\d+\)?$", re.MULTILINE)
_ENOUGH_FRAMES = 2


def experiments(kit: Toolkit) -> Iterator[Calls]:
    for name, described in kit.tools.items():
        base = kit.base(name)
        for parameter, value in (base or {}).items():
            given = dict(base or {})
            if not isinstance(value, str) or "enum" in parameters(described).get(parameter, {}):
                continue
            if {*words_of(parameter)} & _PATH_WORDS:
                yield from _ways_out(name, given, parameter, kit.folder)
            if not _runs_by_design(described):
                for payload in _PAYLOADS:
                    yield (call_of(name, {**given, parameter: payload}),)


def _ways_out(tool: str, given: Mapping[str, Any], parameter: str, folder: str) -> Iterator[Calls]:
    """A plain path to what is elsewhere, then one that is harder to recognise."""
    outside, sibling = (os.path.join(os.path.dirname(folder), name) for name in OUTSIDE)
    up, value = "../" * 12, str(given[parameter])
    below = os.path.dirname(value) or "."
    plain = call_of(tool, {**given, parameter: outside})
    for path in (
        f"../{OUTSIDE[0]}",
        f"{below}/{up}{outside.lstrip('/')}",
        f"..%2f{OUTSIDE[0].replace('/', '%2f')}",
        f"file://{outside}",
        sibling,
        os.path.join(folder, LINK),
        LINK,
    ):
        yield (plain, call_of(tool, {**given, parameter: path}))


def _runs_by_design(described: Described) -> bool:
    said = f"{described.name.replace('_', ' ')} {described.tool.description}"
    return runs_what_it_is_given(described) or runs_queries(described) or bool(_BY_DESIGN.search(said))


def find_breach(steps: Sequence[Step]) -> Breach | None:
    last = steps[-1]
    return _got_out(steps) or _ran_it(last) or _shows_stack(last)


def _got_out(steps: Sequence[Step]) -> Breach | None:
    """Whether a folder that is closed to a plain path is open to another one."""
    if len(steps) < 2:
        return None
    plain, last = steps[-2:]
    changed = _changed_outside(last)
    is_shut = not plain.is_fine and SECRET not in plain.reaction.text and not _changed_outside(plain)
    if plain.name != last.name or not is_shut or not (SECRET in last.reaction.text or changed):
        return None
    did = f"changed {changed[0]}" if changed else "returned a file outside the folders that it keeps to"
    return Breach("path outside", last.name, "", f"a plain path was refused, but this one {did}")


def _changed_outside(step: Step) -> list[str]:
    beside = tuple(f"../{os.path.dirname(name)}" for name in OUTSIDE)
    return [change.path for change in step.reaction.changes if change.path.startswith(beside)]


def _ran_it(step: Step) -> Breach | None:
    """Whether a value was computed; where it is quoted, it is as it was given."""
    values = [value for value in step.arguments.values() if isinstance(value, str) and value in _PAYLOADS]
    if not values or COMPUTED not in step.reaction.text or _runs_by_design(step.tool):
        return None
    return Breach("injection", step.name, "", f"a value was executed: the result holds {COMPUTED}")


def _shows_stack(step: Step) -> Breach | None:
    if len(_FRAME.findall(step.reaction.text)) < _ENOUGH_FRAMES or step.reaction.ended != "returned":
        return None
    if any("at " in str(value) for value in step.arguments.values()):
        return None
    return Breach("stack trace", step.name, "", "the result holds a stack trace, with paths on the server")
