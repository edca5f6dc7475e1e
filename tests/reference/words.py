"""Descriptions of the kinds that the code names. Each kind needs one, and each belongs to a kind."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import get_args

from misstep import errors
from misstep.cli.output import INCONCLUSIVE
from misstep.core.constraint import Constraint
from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS
from misstep.core.results.finding import FindingKind
from tests.reference.tables import table

EXIT_CODES = {
    0: "nothing wrong",
    1: "findings, a pass rate below the [gate](reports.md#gates), or a regression against a [baseline](reports.md#baselines)",
    2: "usage or configuration error, or a store or file that can't be used; no file is left incomplete, and results so far are stored",
    3: "the budget was exhausted before the end; results so far are stored",
    4: "nothing wrong was found, but something was not tested or could not be judged: a tool that accepted no call (`tool fuzz`), or a tool without a judged set (`tool consistency`); with `--fail-on none` the exit code is 0",
    70: "a bug in misstep, or Z3 and the fast path disagree (`--verify`): please report it",
    130: "interrupted; results so far are stored",
}
VERDICTS = {
    "passed": "every required action was carried out, and every constraint is satisfied",
    "failed": "something was wrong; the error says what",
    "inconclusive": "it could not be judged; this never happens in planning tests, only in tool tests, which ask models",
    "errored": "the agent could not run: missing API key, server down, unhandled exception; never counted as a failure of the agent",
}
ERRORS = {
    "timeout": "time (`--timeout`) or turns (`--max-steps`) ran out",
    "act": "a call of an unknown or distractor tool (`--distractors`), arguments that do not match the schema, a tool called more often than requested, `start_over` called too often, or two tasks in one turn with `--parallel forbid`",
    "lost": "a required call is missing: an action, the branch that a report calls for, a repetition, or every option of a choice",
    "parameter": "a start time that is invalid, outside the day or before the end of the previous task; a value that is wrong, outdated or another task's",
    "order": "a broken constraint: an action before one that it depends on, a missed time window, an action between neighbours, both options of a choice, the wrong branch, too much spent",
}
FINDINGS = {
    "crash": "an unhandled exception, including one that a server returns as an error text; a process that died",
    "hang": "no answer within `--timeout` (10 s) while waiting for something",
    "blow-up": "no answer within `--timeout` while computing; more memory than `--memory` (1,024 MB), or far more time or memory than the input explains",
    "schema": "a result that does not match the output schema or the function's return type, or arguments that match the schema but are rejected by validation",
    "protocol": "a reply that breaks the MCP protocol",
    "acceptance": "arguments that the tool's own schema forbids but the tool accepts (not for plain functions, which have no schema of their own)",
    "security": "a tool that can be made to read or change files outside its folder, or to run what it is given; a key or a stack trace in a reply, text that people don't see",
    "contract": "calls that show that a tool does not do what its annotations or its description promise: a read-only tool that changes files, a text that is read back differently, a page that leaves something out",
    "suspicious-refusal": "arguments that match the schema but are refused with an internal error message (a crashed handler, an assertion, `empty range for min()`) or one that says nothing about the call; ranked below crashes",
    "refusal": "only with `--agent`: the documentation allows this call, but the tool refuses it",
}

BROKEN = {
    "before": "`then` is carried out before `first`; if `announced` names an action, only after that action",
    "time": "the start or end lies on the wrong side of the time; exactly at the time is allowed",
    "data": "the taker gets another value than the one that the giver returned last",
    "adjacent": "another action comes between the two",
    "place": "another action comes before the first one, or after the last one",
    "choice": "more than one of them is carried out (none: *lost*)",
    "condition": "the wrong branch is carried out, or either branch before `asks` has reported",
    "repeat": "it is carried out more often (less often: *lost*)",
    "limit": "more actions than the limit come before it",
    "budget": "the total cost exceeds the budget",
    "stand-in": "`by` is carried out although the action was not found to be unavailable",
    "given": "its tool is called with other values",
}


def every_violation() -> str:
    kinds = [kind.__struct_config__.tag for kind in get_args(Constraint)]
    return meant(("constraint", "it is broken if"), BROKEN, kinds)


def every_exit_code() -> str:
    raised = {
        each.exit_code
        for each in vars(errors).values()
        if isinstance(each, type) and hasattr(each, "exit_code")
    }
    return meant(
        ("code", "meaning"),
        {str(code): words for code, words in EXIT_CODES.items()},
        map(str, {0, 1, INCONCLUSIVE, *raised}),
    )


def every_verdict() -> str:
    return meant(("verdict", "when"), VERDICTS, JUDGEMENTS)


def every_error() -> str:
    return meant(("error", "when"), ERRORS, ERROR_KINDS)


def every_finding() -> str:
    return meant(("kind", "what it is"), FINDINGS, get_args(FindingKind))


def every_key() -> str:
    text = (files("misstep.models") / "data" / "providers.toml").read_text(encoding="utf-8")
    rows = [
        (f"`{each['key']}`", f"of models `{name}/…`")
        for name, each in tomllib.loads(text).items()
        if "key" in each
    ]
    return table(("variable", "key"), rows)


def meant(head: tuple[str, str], words: Mapping[str, str], known: Iterable[str]) -> str:
    assert {*words} == {*known}, f"descriptions and kinds differ: {set(words) ^ {*known}}"
    return table(head, [(f"`{kind}`", said) for kind, said in words.items()])
