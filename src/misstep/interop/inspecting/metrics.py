"""What a run came to, counted while its samples go by, in the terms of Inspect's results."""

from collections import defaultdict
from math import sqrt

from inspect_ai.log import EvalMetric, EvalResults, EvalScore

from misstep.interop.episodes import Episode
from misstep.interop.inspecting.samples import SCORER

GROUPS = ("actions", "families", "kind", "domain")  # of what is known about an episode
MOST_GROUPS = 100


class Counted:
    """Right ones and all, in total and by group."""

    def __init__(self) -> None:
        self.samples = 0
        self._judged = 0
        self._passed = 0
        self._chance = 0.0
        self._has_chance = False
        self._groups = defaultdict[tuple[str, str], list[int]](lambda: [0, 0])

    def add(self, episode: Episode) -> None:
        self.samples += 1
        if episode.verdict not in ("passed", "failed"):
            return
        passed = int(episode.verdict == "passed")
        self._judged += 1
        self._passed += passed
        self._chance += episode.chance or 0.0
        self._has_chance = self._has_chance or episode.chance is not None
        for group in GROUPS:
            if value := episode.about.get(group):
                name = " and ".join(value) if isinstance(value, list) else str(value)
                counts = self._groups[group, name]
                counts[0] += passed
                counts[1] += 1

    def results(self) -> EvalResults:
        return EvalResults(
            total_samples=self.samples,
            completed_samples=self._judged,
            scores=[self._score()] if self._judged else [],
        )

    def _score(self) -> EvalScore:
        rate = self._passed / self._judged
        # Inspect's own way: the sample's deviation over the root of its size.
        deviation = sqrt(rate * (1 - rate) / (self._judged - 1)) if self._judged > 1 else 0.0
        metrics = {
            "accuracy": EvalMetric(name="accuracy", value=rate),
            "stderr": EvalMetric(name="stderr", value=deviation),
        }
        if self._has_chance:
            metrics["chance"] = EvalMetric(name="chance", value=round(self._chance / self._judged, 9))
        for (group, value), (passed, judged) in sorted(self._groups.items())[:MOST_GROUPS]:
            name = f"{group} {value}"
            metrics[name] = EvalMetric(
                name=name, group=group, value=passed / judged, metadata={"samples": judged}
            )
        return EvalScore(
            name=SCORER,
            scorer=SCORER,
            scored_samples=self._judged,
            unscored_samples=self.samples - self._judged,
            metrics=metrics,
        )
