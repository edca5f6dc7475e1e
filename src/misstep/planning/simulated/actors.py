"""Actors that go wrong in ways that no misreading explains."""

from collections.abc import Sequence

import msgspec

from misstep.planning.plans.demands import Demands
from misstep.planning.plans.strategy import Brief, Move, News, Strategist


class Wanderer(Strategist):
    """Keeps to an order of its own and to nothing else; what it has left out it never does."""

    def __init__(self, brief: Brief, plan: Sequence[str]) -> None:
        super().__init__(msgspec.structs.replace(brief, attempts=1))
        self._own = tuple(plan)

    def _plan(self) -> tuple[Demands, list[int]] | None:
        demands, units = self._rest()
        if demands is None:
            return None
        places = demands.assign(self._own)
        return demands, sorted([unit for unit in units if unit in places], key=places.__getitem__)


class HardOfHearing(Strategist):
    """Takes every result for a success and hears no announcement in it."""

    def hear(self, move: Move, news: News) -> None:
        failed = news.outcome in ("unavailable", "broken")
        heard = News("done") if failed else msgspec.structs.replace(news, announced=())
        super().hear(move, heard)
