"""The requests for a group of tools, put to an agent that has only others."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from math import inf
from typing import Literal

from msgspec import structs

from misstep.api.agent_session import AgentSession, Over, UsageMeter, unless
from misstep.api.allowance import Allowance
from misstep.api.late_models import LateTolerantModels
from misstep.api.models import Tell
from misstep.api.role_models import RoleModels
from misstep.api.workbenches import Workbenches
from misstep.core.crosstalk import Group, GroupReport
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.tool_host.joined import JoinedBench
from misstep.tool_host.process import Process
from misstep.tooling.asking.crosstalk import make_requests
from misstep.tooling.asking.grouping import propose_groups
from misstep.tooling.asking.prompts import Prompts

COUNT = 5  # requests for each group
LOST = "could not be started again"


class Crossing:
    """Tries groups, several at a time if asked from several threads. `specs` says where each tool is from.

    `lost` are specs whose tools could not be had again, and why: what needs them stays undone.
    """

    def __init__(
        self,
        benches: Workbenches,
        settings: Settings,
        prompts: Prompts,
        allowance: Allowance,
        tools: Mapping[str, Described],
        specs: Mapping[str, str],
        tell: Tell,
    ) -> None:
        self._benches = benches
        self._settings = settings
        self._allowance = allowance
        self._tools = tools
        self._specs = specs
        self._company = AgentSession(settings, prompts, allowance, tell)
        self.lost = dict[str, str]()

    def propose(self) -> tuple[Group, ...]:
        """The groups that the model sees in all tools; none if there is nothing left to ask it with."""
        try:
            return asyncio.run(unless(self._company.is_over, self._propose(), inf))
        except Over:
            return ()

    def cross(self, report: GroupReport, tell: Callable[[GroupReport], None]) -> None:
        """Try what is left of a group; `tell` hears how far it has got after each request."""
        with ExitStack() as stack:
            benches = list[Process]()
            for spec in dict.fromkeys(self._specs[tool] for tool in report.offered):
                try:
                    benches.append(stack.enter_context(self._benches.lend(spec)))
                except UsageError as error:
                    self.lost.setdefault(spec, f"{LOST}: {error.message}")
                    return
                benches[-1].heed(self._allowance.is_over)
            asyncio.run(self._cross(benches, report, tell))

    async def _propose(self) -> tuple[Group, ...]:
        async with self._company.advised(UsageMeter(self._allowance)) as counsel:
            return await propose_groups(list(self._tools.values()), LateTolerantModels(counsel))

    async def _cross(
        self, benches: Sequence[Process], report: GroupReport, tell: Callable[[GroupReport], None]
    ) -> None:
        bill, began = UsageMeter(self._allowance), time.monotonic()
        shelters = "; ".join(sorted({bench.sandbox.words for bench in benches}))
        now = structs.replace(report, sandbox=shelters)

        def keep(ended: Literal["done", "stopped"]) -> None:
            seconds = round(report.seconds + time.monotonic() - began, 3)
            tell(structs.replace(now, ended=ended, usage=bill.added_to(report.usage), seconds=seconds))

        try:
            async with self._company.gathered(JoinedBench(benches), bill) as (counsel, trier):
                if not now.requests and not now.why:
                    now = await self._with_requests(now, counsel)
                    keep("stopped")
                for request in now.requests[len(now.trials) :]:
                    trial = await unless(self._allowance.is_over, trier.run(request, now.offered), inf)
                    notes = tuple(dict.fromkeys((*now.notes, *trier.notes)))
                    now = structs.replace(now, trials=(*now.trials, trial), notes=notes)
                    keep("stopped")
        except Over:
            keep("stopped")
            return
        keep("done")

    async def _with_requests(self, report: GroupReport, counsel: RoleModels) -> GroupReport:
        meant = [self._tools[name] for name in report.tools]
        work = make_requests(meant, LateTolerantModels(counsel), self._settings.count or COUNT)
        requests, why = await unless(self._allowance.is_over, work, inf)
        return structs.replace(report, requests=requests, why=why)
