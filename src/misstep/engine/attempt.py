"""One attempt of an agent at one case, kept within its limits."""

import asyncio

from misstep.core.agent import Agent, Answer, Assignment, StepsExhausted, Toolbox


async def attempt(
    agent: Agent, assignment: Assignment, toolbox: Toolbox, timeout: float
) -> tuple[Answer, str]:
    """How the agent ended, and what broke if something did. Nothing the agent raises gets past here."""
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await agent.run(assignment, toolbox), ""
    except StepsExhausted:
        return Answer(ended="iterations"), ""
    except Exception as error:
        if limit.expired():  # a TimeoutError of the agent's own is not ours
            return Answer(ended="timeout"), ""
        return Answer(ended="error"), f"{type(error).__name__}: {error}"
