"""A pool of environments for tasks, each with its tools loaded."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
from msgspec import structs

from misstep.api.benchmarking.agents import tools_needed
from misstep.api.benchmarking.arena import Discipline, Surroundings, TaskEnv
from misstep.api.workbenches import conditions_of
from misstep.core.descriptions import refuse_strangers
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.tool_host.conditions import Conditions
from misstep.tool_host.process import Process


class Stand(msgspec.Struct, frozen=True):
    """A place, and processes in it that hold the tools."""

    arena: TaskEnv
    benches: tuple[Process, ...]


class EnvPool:
    """Opens stands as they are wanted, and keeps those that are given back for the next."""

    def __init__(self, discipline: Discipline, specs: Sequence[str], settings: Settings) -> None:
        self.discipline = discipline
        self._specs = specs
        self._settings = settings
        self._idle = list[Stand]()
        self._open = ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def look(self) -> None:
        """See that the tools are to be had, before anything is done with them. Raises a `UsageError`."""
        with self.lend() as stand:
            refuse_namesakes(stand.benches)
            offered = [tool.name for bench in stand.benches for tool in bench.tools]
            refuse_strangers(conditions_of(self._settings).wordings, offered)
            needed = tools_needed(self._settings, self.discipline)
            missing = [name for name in needed if name not in offered]
            if missing:
                hint = (
                    "it makes calls of the benchmark's usual tools: leave out --tools, or name another agent"
                )
                raise UsageError(f"{self._settings.agent} needs a tool '{missing[0]}'", hint)

    @contextmanager
    def lend(self) -> Iterator[Stand]:
        """A stand of one's own; where something goes wrong at it, nobody gets it again."""
        with self._lock:
            stand = self._idle.pop() if self._idle else None
        stand = stand or self._opened()
        yield stand
        with self._lock:
            self._idle.append(stand)

    def _opened(self) -> Stand:
        with ExitStack() as stack:
            arena = stack.enter_context(self.discipline.open())
            conditions = _conditions(self._settings, arena.surroundings)
            benches = [stack.enter_context(Process(spec, conditions)) for spec in self._specs]
            with self._lock:
                self._open.push(stack.pop_all())
            return Stand(arena, tuple(benches))


def refuse_namesakes(benches: Sequence[Process]) -> None:
    names = [tool.name for bench in benches for tool in bench.tools]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"there are two tools '{name}'", "an agent could not tell them apart: leave one out"
            )


def _conditions(settings: Settings, around: Surroundings) -> Conditions:
    usual = conditions_of(settings)
    return structs.replace(
        usual,
        folder=around.folder,
        environment={**usual.environment, **around.environment},
        allow_network=usual.allow_network or around.allow_network,
    )
