"""Knows tools that carry out code which they are given, whose errors are then the code's."""

import re
from functools import lru_cache

from misstep.core.tool import Described
from misstep.tooling.judging.words.wording import load_wording

_RUNS_QUERIES = re.compile(r"(?:^|[_\W])(?:sql|query)(?:$|[_\W])", re.IGNORECASE)
_RUNS_CODE = re.compile(
    r"python|repl|shell|bash|interpreter|javascript|calculat|eval|notebook", re.IGNORECASE
)
_CODE = {
    "code",
    "command",
    "commands",
    "script",
    "program",
    "python_code",
    "cmd",
    "source_code",
    "expression",
}
_SPEAKS_OF_ERRORS = re.compile(
    r"\b(?:errors?|exceptions?|logs?|logging|tracebacks?|crash(?:es)?|diagnos\w+|debug\w*|docs?|documentation"
    r"|issues?|bugs?|incidents?|search\w*|web|pages?|e-?mails?|messages?)\b",
    re.IGNORECASE,
)


def runs_what_it_is_given(described: Described) -> bool:
    """Whether the tool runs code, commands or queries, going by its name and its parameters."""
    parameters = described.tool.parameters.get("properties")
    names = (
        tuple(name for name in parameters if isinstance(name, str)) if isinstance(parameters, dict) else ()
    )
    return _runs(described.name, names)


def runs_queries(described: Described) -> bool:
    """Whether all it runs is SQL and the like, which knows nothing of the language that the tool is in."""
    return _RUNS_QUERIES.search(described.name) is not None and not _runs_code(described)


def speaks_of_errors(described: Described) -> bool:
    """Whether the tool is for errors, logs, documentation or texts of others, which its replies quote."""
    return (
        _SPEAKS_OF_ERRORS.search(f"{described.name.replace('_', ' ')} {described.tool.description}")
        is not None
    )


def _runs_code(described: Described) -> bool:
    parameters = described.tool.parameters.get("properties") or {}
    return not _CODE.isdisjoint(parameters) or _RUNS_CODE.search(described.name) is not None


@lru_cache(maxsize=1024)
def _runs(name: str, parameters: tuple[str, ...]) -> bool:
    runners = load_wording().runners
    return not {*runners.parameters}.isdisjoint(parameters) or re.search(runners.names, name) is not None
