"""The loop of a run: ask the campaign, run cases side by side, tell it what happened."""

import asyncio
from collections.abc import Awaitable, Callable

from misstep.core.campaign import Campaign
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.engine.purse import CaseAccount, Purse

AT_A_TIME = 4  # cases that are started before others get a turn


async def drive(
    campaign: Campaign,
    start: Callable[[Case, CaseAccount], Awaitable[Outcome]],
    jobs: int,
    purse: Purse,
) -> bool:
    """Run a campaign with up to `jobs` cases in flight; True if it came to its end.

    The purse is asked before each case whether there is means for another; once it says no with none in
    flight, the run is over. `start` runs a case, keeps its outcome and gives it. It must not raise for what
    an agent does; what it does raise ends the run.
    """
    news = asyncio.Event()
    flying, admitted = 0, True

    async def fly(case: Case, account: CaseAccount) -> None:
        nonlocal flying
        try:
            campaign.tell(await start(case, account))
        finally:
            flying -= 1
            news.set()

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                news.clear()
                admitted = True
                while flying < jobs and (admitted := purse.admit()) and (batch := campaign.ask(1)):
                    flying += 1
                    group.create_task(fly(batch[0], purse.open()))
                    if flying % AT_A_TIME == 0:
                        await asyncio.sleep(0)  # those in flight come first: they wait for nothing but us
                if not flying:
                    break
                await news.wait()
    except* Exception as failures:
        raise failures.exceptions[0] from None
    return admitted
