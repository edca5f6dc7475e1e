"""Makes requests for some of an agent's tools, and sorts tools into groups with a common purpose.

Crosstalk tests use both: a request that needs one group of tools should not call those of another.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from misstep.core.model import Unusable, fenced
from misstep.core.results.crosstalk import ToolGroup, offered_beside
from misstep.core.text import cut, quoted, tidy
from misstep.core.tool import Described
from misstep.errors import did_you_mean
from misstep.fuzzing.agent_tests.parties import Models, told
from misstep.fuzzing.agent_tests.prompts import documentation_of
from misstep.fuzzing.agent_tests.requests import requests_form
from misstep.schemas.answers import AnswerSchema, FormatError, form_of


async def make_requests(
    tools: Sequence[Described], models: Models, count: int
) -> tuple[tuple[str, ...], str]:
    """Ask a model for up to `count` realistic messages, each of which needs at least one of the tools.

    Returns the messages, and if there are none, the reason.
    """
    try:
        made = await models.ask(
            "generator", "crosstalk", requests_form(count), tools=documentation_of(tools), count=str(count)
        )
    except Unusable as error:
        return (), f"no requests were made: {told(error)}"
    return made, ""


FEWEST = 2  # groups
LONGEST_NAME = 100
MOST_DESCRIPTION = 1_000


class _Groups(msgspec.Struct, frozen=True):
    groups: tuple[ToolGroup, ...]


async def propose_groups(tools: Sequence[Described], models: Models) -> tuple[ToolGroup, ...]:
    """Ask a model to group the tools; every tool is in at least one group."""
    told = fenced("\n\n".join(_in_words(tool) for tool in tools))
    return await models.ask("generator", "groups", groups_form([tool.name for tool in tools]), tools=told)


def groups_form(known: Collection[str]) -> AnswerSchema[tuple[ToolGroup, ...]]:
    """A schema for groups that cover all known tools and contain no others."""

    def make(form: _Groups) -> tuple[ToolGroup, ...] | FormatError:
        groups = tuple(ToolGroup(tidy(each.name), tuple(dict.fromkeys(each.tools))) for each in form.groups)
        wrong = wrong_with_groups(groups, known)
        named = {tool for group in groups for tool in group.tools}
        wrong += [f"{quoted(tool)} is in no group" for tool in known if tool not in named]
        return FormatError(". ".join(wrong) + ".") if wrong else groups

    return form_of(_Groups).then(make)


def wrong_with_groups(groups: Sequence[ToolGroup], known: Collection[str]) -> list[str]:
    """Reasons why these groups cannot be tested against each other; empty if they can."""
    wrong = [f"the group {quoted(name)} is there twice" for name in _repeated(groups)]
    for group in groups:
        wrong += _wrong_with(group, known)
    if len(groups) < FEWEST:
        wrong.append(f"the number of groups is {len(groups)}, and two are the fewest")
    if not wrong:
        wrong += [
            f"nothing is left beside the group {quoted(group.name)}: each tool shares a group with one of it"
            for group in groups
            if not offered_beside(group, groups)
        ]
    return wrong


def _wrong_with(group: ToolGroup, known: Collection[str]) -> list[str]:
    wrong = list[str]()
    if not group.name.strip() or len(group.name) > LONGEST_NAME:
        wrong.append(f"{quoted(group.name)} is no name for a group: 1 to {LONGEST_NAME} characters will do")
    if not group.tools:
        wrong.append(f"the group {quoted(group.name)} is empty")
    for tool in group.tools:
        if tool not in known:
            hint = did_you_mean(tool, known)
            wrong.append(f"there is no tool {quoted(tool)}{f' ({hint})' if hint else ''}")
    return wrong


def _repeated(groups: Sequence[ToolGroup]) -> list[str]:
    return [name for name, count in Counter(group.name for group in groups).items() if count > 1]


def _in_words(tool: Described) -> str:
    return f"{tool.name}\n{cut(tool.tool.description, MOST_DESCRIPTION) or '(no description)'}"
