"""Requests that are meant for some tools of many."""

from collections.abc import Sequence

from misstep.core.model import Unusable
from misstep.core.tool import Described
from misstep.tooling.asking.documentation import documentation_of
from misstep.tooling.asking.parties import Models
from misstep.tooling.asking.requests import requests_form
from misstep.tooling.asking.trouble import told


async def make_requests(
    tools: Sequence[Described], models: Models, count: int
) -> tuple[tuple[str, ...], str]:
    """Up to so many messages as people write them, each of which needs one of the tools or more.

    Where there are none, what kept them from being made.
    """
    try:
        made = await models.ask(
            "generator", "crosstalk", requests_form(count), tools=documentation_of(tools), count=str(count)
        )
    except Unusable as error:
        return (), f"no requests were made: {told(error)}"
    return made, ""
