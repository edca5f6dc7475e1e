"""Examples in the documentation: what is shown as an example, or as the default, is accepted.

A value is tried in a call that the tool has just accepted with another one, so that nothing else is missing;
a whole example replaces all arguments.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.tool import Described
from misstep.fuzzing.contracts.steps import Breach, Experiments, Step, Toolkit, call_of, parameters, required
from misstep.fuzzing.judging.wording import in_short
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list
from misstep.schemas.source import parse_expression

MOST = 6  # examples of a tool
LONGEST = 2_000  # characters of a description, and of an example in a message
SAID_EXAMPLE = re.compile(
    r"""(?:\be\.\s?g\.,?|\bfor\s+example,?|\bfor\s+instance,?|\bexamples?:|\bsuch\s+as)\s{0,9}:?\s{0,9}
    (?: (?P<mark>['"`“])(?P<text>[^'"`“”\n]{1,100})['"`”]
      | (?P<number>-?(?:0|[1-9]\d{0,12})(?:\.\d{1,6})?)(?![\w%.:/-]*\w)(?!\s+[a-zA-Z]) )""",
    re.IGNORECASE | re.VERBOSE,
)
# Examples of these name things that need not exist here.
_NAMES_THINGS = re.compile(
    "path|file|filename|folder|directory|dir|url|uri|ids?|key|name|repo|repository|branch|host|table|column"
    "|sheet|user|account|project|token|address|command|query"
)
_ABOUT_FORM = re.compile(
    r"\b(?:invalid|malformed|unsupported|not supported|must|should|expected|formats?|parse[ds]?|pattern"
    r"|types?|not (?:a )?valid|one of|illegal|unrecogni[sz]ed|range)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"[<>{}…]|\.\.\.|YYYY|xxx|\byour\b|\bmy", re.IGNORECASE)
_COUNTEREXAMPLE = re.compile(
    r"\b(?:not|never|invalid|avoid|instead|without|except|don't|wrong)\b", re.IGNORECASE
)
# What exists, and how arguments fit together.
_ABOUT_THE_WORLD = re.compile(
    r"\b(?:not found|no such|exists?|missing|denied|permission|permitted|outside|unavailable|connect\w*"
    r"|network|hosts?|auth\w*|tokens?|credentials?|time[sd]? ?out|first|empty|already|nothing|ENOENT"
    r"|not match (?:the )?(?:range|size|number|count|length|dimensions?)"
    r"|after|before|greater|less|larger|smaller|both|same|differ\w*|equal\w*|together|when|requires?"
    r"|unable to (?:find|open|read|access)|no \w+ (?:is|was|are|were)"
    r"|(?:can't|cannot|could not|couldn't) (?:find|open|read|access|resolve|load))\b",
    re.IGNORECASE,
)

_BEGINNING = re.compile(r"\{|\b(?P<tool>\w+)\(")  # of an example that may be a call
_SHOWS_CALLS = re.compile(r"\b(?:examples?|e\.\s?g\.|for instance|usage|call it)|```", re.IGNORECASE)
_SHOWS_SOMETHING_ELSE = re.compile(
    r"\b(?:returns?|returned|outputs?|responses?|results?|repl(?:y|ies)|schema|error\w*|not|never|invalid|avoid"
    r"|instead|wrong|bad|don't|incorrect)\b",
    re.IGNORECASE,
)
_NEAR = 80  # characters before an example that say what it is
_LONGEST_CALL, _MOST_ENDS = 500, 8


def experiments(kit: Toolkit) -> Experiments:
    for name, described in kit.tools.items():
        for calls in kit.accepted.get(name, ())[-1:]:
            for given, _ in list(_examples(described, json.loads(calls[-1].arguments)))[:MOST]:
                yield (*calls, call_of(name, given))


def _examples(described: Described, base: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Arguments from the documentation, completed from accepted ones, and the words that show them."""
    for example in as_list(described.tool.parameters.get("examples")):
        if isinstance(example, dict) and {*required(described)} <= {*example} and not _names_things(example):
            yield example, f"the example {_written(example)}"
    for example in _told(described):
        yield example, f"the example {_written(example)} in the description"
    for parameter, schema in parameters(described).items():
        if _names_things([parameter]):
            continue
        told = str(schema.get("description", ""))[:LONGEST]
        written = [(value, f"the example {_written(value)}") for value in as_list(schema.get("examples"))]
        if schema.get("default") not in (None, "") and parameter not in base:
            written.append((schema["default"], f"the default {_written(schema['default'])}"))
        if schema.get("type") == "string":
            said = "" if _COUNTEREXAMPLE.search(told) else told
            texts = [found["text"] for found in SAID_EXAMPLE.finditer(said) if found["text"]]
            written += [(text, f'"{in_short(told)}"') for text in texts if not _PLACEHOLDER.search(text)]
        yield from (({**base, parameter: value}, f"{words} of {parameter}") for value, words in written)


def _written(value: Any) -> str:
    return json.dumps(value)[:LONGEST]


def _told(described: Described) -> list[dict[str, Any]]:
    """Arguments that the description shows as JSON or as a call, complete and for this tool."""
    told, found = described.tool.description[: 2 * LONGEST], list[dict[str, Any]]()
    for begin in _BEGINNING.finditer(told):
        before = told[max(0, begin.start() - _NEAR) : begin.start()].rpartition("\n\n")[2]
        if not _SHOWS_CALLS.search(before) or _SHOWS_SOMETHING_ELSE.search(before):
            continue
        is_call = begin["tool"] is not None
        if is_call and begin["tool"] != described.name:
            continue
        example = _called_with(told[begin.start() :]) if is_call else _decoded(told[begin.start() :])
        if example and _is_complete(described, example) and example not in found:
            found.append(example)
    return found


def _decoded(text: str) -> Any:
    """The JSON value with which a text begins; of a call in JSON, its arguments."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value.get("arguments", value) if isinstance(value, dict) else None


def _called_with(text: str) -> dict[str, Any] | None:
    """The arguments of a call as in Python, all of them by name, with which a text begins."""
    for end in list(re.finditer(r"\)", text[:_LONGEST_CALL]))[:_MOST_ENDS]:
        call = parse_expression(text[: end.end()])
        if not isinstance(call, ast.Call):
            continue
        try:
            found = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
            return json.loads(json.dumps(found)) if not call.args else None
        except (ValueError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _is_complete(described: Described, example: Any) -> bool:
    """Whether these can be the arguments of a call, which name nothing that may not exist here."""
    if not isinstance(example, dict) or not {*required(described)} <= {*example} <= {*parameters(described)}:
        return False
    return not _names_things(example) and not _PLACEHOLDER.search(json.dumps(list(example.values())))


def _names_things(parameters_given: Any) -> bool:
    return any(_NAMES_THINGS.fullmatch(word) for name in parameters_given for word in words_of(name))


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """Whether arguments from the documentation are refused for their form, where others were accepted."""
    if len(steps) < 2:
        return None
    control, last = steps[-2:]
    if control.name != last.name or not control.is_fine or last.judged.ruling != "refused":
        return None
    shown = _examples(last.tool, control.arguments)
    words = next((words for given, words in shown if given == last.arguments), "")
    if not words or not _ABOUT_FORM.search(last.said) or _ABOUT_THE_WORLD.search(last.said):
        return None
    effect = f"documented example is refused: {in_short(last.said)}"
    return Breach("example", last.name, words, effect)
