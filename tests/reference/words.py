"""Kinds that the code knows by name, with what they mean: none may be without a word, none without a kind."""

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
    1: "findings, or fewer passed than the [gate](reports.md#gates) asks for, or a regression against a [baseline](reports.md#baselines)",
    2: "usage or configuration error, or a store or file that can't be used; no file is left half-written, and what a run had finished is kept",
    3: "the budget was spent before the end; what had finished is kept",
    4: "nothing wrong was found, but something was not tested or could not be judged: a tool that accepted no call (`tool fuzz`) or none of whose sets could be judged (`tool consistency`); `--fail-on none` exits with 0",
    70: "a bug of ours, or Z3 and the fast path disagree (`--verify`): please report it",
    130: "interrupted; what had finished is kept",
}
VERDICTS = {
    "passed": "everything that was due was done, every constraint kept",
    "failed": "something was wrong; the error says what",
    "inconclusive": "a judge could not tell. That of planning always can; those of tool tests, which ask models, can't always",
    "errored": "the agent's plumbing broke: no key, no server, an exception; never counted as the agent's failure",
}
ERRORS = {
    "timeout": "the wall clock (`--timeout`) or the turns (`--max-steps`) ran out",
    "act": "a tool that doesn't exist or nobody needs (`--distractors`), arguments that don't fit its schema, a tool called more often than asked for, `start_over` called too often, or, with `--parallel forbid`, two tasks in one turn",
    "lost": "something that was due was never called: an action, a branch that a report calls for, a second time, any option of a choice",
    "parameter": "a start before the last task has ended, outside the day, or that is no time; a value that is wrong, stale or another task's",
    "order": "a constraint is broken: something was carried out ahead of what it had to wait for, a window missed, something between neighbours, both options carried out, the branch not taken, too much spent",
}
FINDINGS = {
    "crash": "an exception that nobody handled, also one that a server wraps into an error text; a process that died",
    "hang": "no answer within `--timeout` (10 s), while it waited for something",
    "blow-up": "no answer within `--timeout`, while it computed; more than `--memory` (1,024 MB), or far more than the input explains",
    "schema": "a result that is not what the output schema or the function's return hint says, or arguments that fit the schema and are refused by whatever checks them",
    "protocol": "an answer that is none by the rules of MCP",
    "acceptance": "arguments that the tool's own schema forbids, taken without a word (plain functions have none of their own)",
    "suspicious-refusal": "arguments that fit the schema, refused with words that speak of the tool's insides (a handler that crashed, an assertion, `empty range for min()`) or that say nothing about the call; ranked below crashes",
    "refusal": "only with `--agent`: the documentation allows this call, but the tool refuses it",
}

BROKEN = {
    "before": "`then` is carried out with `first` still to come; if `announced` names an action, only after that has been carried out",
    "time": "the edge lies outside; exactly at the time is fine",
    "data": "the taker is passed anything but what the giver returned last",
    "adjacent": "anything comes between the two",
    "place": "anything comes before it, or after it",
    "choice": "more than one of them is carried out (none at all: *lost*)",
    "condition": "the branch not taken is carried out, or either before `asks` has reported",
    "repeat": "it is carried out more often (less often: *lost*)",
    "limit": "more than so many come before it",
    "budget": "everything carried out costs more together",
    "stand-in": "`by` is carried out although the action has not turned out to be out of service",
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
    assert {*words} == {*known}, f"words and kinds differ: {set(words) ^ {*known}}"
    return table(head, [(f"`{kind}`", said) for kind, said in words.items()])
