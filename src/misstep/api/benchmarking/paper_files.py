"""Tasks on files in the ToolFuzz paper's layout, set up by its scripts."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from misstep.api.benchmarking.arena import Surroundings, TaskEnv
from misstep.api.benchmarking.files import TOOLS
from misstep.api.benchmarking.room import GONE, Room, claimed_room
from misstep.benchmarks.files.paper.entries import read_text
from misstep.benchmarks.files.paper.tasks import PaperTask, doubts, judge_paper
from misstep.benchmarks.tree import Tree, survey
from misstep.core.benchmark import Solution, Task
from misstep.core.settings import Settings
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.core.verdict import Judgement
from misstep.errors import UsageError
from misstep.tool_host.conditions import Conditions
from misstep.tool_host.process import Process
from misstep.tool_host.protocol import Limits

SETTING_UP = "misstep.benchmarks.files.paper.setup:TOOLS"
MOST_DOUBTS = 3
PATIENCE = 90.0  # seconds for a script, and some


class PaperFiles:
    """The benchmark; it is a `Discipline`."""

    tools = TOOLS

    def __init__(self, known: Sequence[PaperTask], tasks: Sequence[Task], settings: Settings) -> None:
        self.tasks = tasks
        self._known = {each.task.id: each for each in known}
        self._settings = settings

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with claimed_room() as room:
            limits = Limits(timeout=PATIENCE, memory=self._settings.memory << 20)
            conditions = Conditions(self._settings.sandbox, limits, folder=str(room.folder))
            with Process(SETTING_UP, conditions) as bench:
                yield _Place(room, bench, self._known)

    def solve(self, task: Task) -> Solution:
        hint = "simulated agents know nothing of it: name one that can read"
        raise UsageError(f"nobody knows how task '{task.id}' of the paper is done", hint)


class _Place:
    """A room that is set up for one task after the other; it is an `TaskEnv`."""

    def __init__(self, room: Room, bench: Process, known: dict[str, PaperTask]) -> None:
        self._room = room
        self._bench = bench
        self._known = known
        self._initial: Tree = {}
        self.surroundings = Surroundings(folder=str(room.folder))

    def lay(self, task: Task) -> None:
        each = self._known[task.id]
        self._bench.forget()
        self._room.clear()
        call = Invocation("set_up", json.dumps({"script": read_text(each.setup)}))
        reactions = list(self._bench.run([Probe(call)]))
        if problem := _problem(reactions):
            raise UsageError(f"the set-up script failed: {problem}", where=str(each.setup))
        self._bench.forget()  # so that nothing that it began goes on
        self._initial = survey(self._room.folder)

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:  # noqa: ARG002
        if self._room.is_gone:
            return "failed", (GONE,)
        each = self._known[task.id]
        verdict, why = judge_paper(each, survey(self._room.folder), self._initial)
        odd = () if verdict == "passed" else doubts(each, self._initial)[:MOST_DOUBTS]
        return verdict, (*why, *odd)


def _problem(reactions: Sequence[Reaction]) -> str:
    """What went wrong; empty if nothing did."""
    if not reactions:
        return "it was not run"
    (reaction,) = reactions
    if reaction.ended == "returned":
        return json.loads(reaction.text) if reaction.text.startswith('"') else reaction.text
    return reaction.detail or (reaction.raised.message if reaction.raised else reaction.ended)
