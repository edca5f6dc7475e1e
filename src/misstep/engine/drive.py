"""The loop of a run: ask the campaign, run cases side by side, tell it what happened."""

import asyncio
from collections.abc import Awaitable, Callable

from misstep.core.campaign import Campaign
from misstep.core.case import Case
from misstep.core.outcome import Outcome


async def drive(
    campaign: Campaign,
    execute: Callable[[Case], Awaitable[Outcome]],
    report: Callable[[Outcome], None],
    jobs: int,
) -> None:
    """Run a campaign to its end with up to `jobs` cases in flight; outcomes are reported as they arrive.

    `execute` must not raise for what an agent does; what it does raise ends the run.
    """
    news = asyncio.Condition()
    pending = 0

    async def next_case() -> Case | None:
        nonlocal pending
        async with news:
            while not (batch := campaign.ask(1)):
                if not pending:
                    return None
                await news.wait()
            pending += 1
            return batch[0]

    async def work() -> None:
        nonlocal pending
        while (case := await next_case()) is not None:
            try:
                outcome = await execute(case)
                report(outcome)
                campaign.tell(outcome)
            finally:
                pending -= 1
                async with news:
                    news.notify_all()
            await asyncio.sleep(0)  # agents that never wait must not keep the loop from hearing Ctrl-C

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(work())
    except* Exception as failures:
        raise failures.exceptions[0] from None
