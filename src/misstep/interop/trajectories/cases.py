"""Finds the case that a trajectory belongs to."""

from collections.abc import Iterable

from misstep.core.case import Case, plain_order
from misstep.core.transcript import Transcript, storable
from misstep.errors import UsageError, did_you_mean
from misstep.interop.trajectories.trajectory import Trajectory


class Cases:
    """Cases by their ids and by their texts; `given` is for trajectories that say nothing themselves."""

    def __init__(self, cases: Iterable[Case], source: str, given: str = "") -> None:
        self._known = {case.id: case for case in cases}
        self._texts = dict[str, list[Case]]()
        for case in self._known.values():
            self._texts.setdefault(_plain(case.query), []).append(case)
        self._source = source
        if given and given not in self._known:
            hint = did_you_mean(given, self._known)
            raise UsageError(f"no case '{given}' in {source}", hint, where="--case")
        self._given = given

    def transcript(self, trajectory: Trajectory) -> tuple[Case, Transcript]:
        case = self._find(trajectory)
        if trajectory.is_silent and trajectory.calls and plain_order(case) is None:
            raise UsageError(
                f"the arguments of its calls are left out, and case {case.id} is about more than order",
                "record them: with --otlp-content, or as your own instrumentation has it",
                where=trajectory.where,
            )
        return case, Transcript(
            case.id,
            trajectory.calls,
            trajectory.ended,
            storable(trajectory.answer),
            storable(trajectory.error),
            trajectory.usage,
        )

    def _find(self, trajectory: Trajectory) -> Case:
        """By a name that is known, by the very text of the request, or else the one that was given."""
        for name in trajectory.names:
            if name in self._known:
                return self._known[name]
        alike = self._texts.get(_plain(trajectory.request), [])
        if len(alike) == 1:
            return alike[0]
        if self._given:
            return self._known[self._given]
        raise self._unknown(trajectory, alike)

    def _unknown(self, trajectory: Trajectory, alike: list[Case]) -> UsageError:
        if alike:
            ids = ", ".join(case.id for case in alike[:3])
            hint = f"the request is that of {ids}: say which in its metadata, or with --case"
            return UsageError("belongs to one of several cases", hint, where=trajectory.where)
        named = f" ({', '.join(trajectory.names[:3])})" if trajectory.names else ""
        return UsageError(
            f"belongs to no case that is known{named}",
            f"{self._source} has {len(self._known)} cases; they are found by their id in the metadata or by "
            "the text of the request",
            "say which with --case ID",
            where=trajectory.where,
        )


def _plain(text: str) -> str:
    return " ".join(text.split())
