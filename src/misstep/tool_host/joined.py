"""Several workbenches that look like one."""

from collections.abc import Iterable, Iterator, Sequence

from misstep.core.finding import Reach
from misstep.core.tool import Described, Probe, Reaction
from misstep.tool_host.process import Process


class JoinedBench:
    """Takes each call to the workbench that has the tool; it is a `Workbench`. No two may share a name."""

    def __init__(self, benches: Sequence[Process]) -> None:
        self._benches = benches
        self._homes = {tool.name: bench for bench in benches for tool in bench.tools}

    def spec_of(self, tool: str) -> str:
        """What means a tool, wherever it is read."""
        return self._homes[tool].spec_of(tool)

    @property
    def tools(self) -> Sequence[Described]:
        return [tool for bench in self._benches for tool in bench.tools]

    @property
    def files(self) -> Sequence[str]:
        return [file for bench in self._benches for file in bench.files]

    @property
    def starts_quickly(self) -> bool:
        return all([bench.starts_quickly for bench in self._benches])

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        for probe in probes:
            made = list(self._homes[probe.invocation.tool].run([probe], patience))
            if not made:
                return
            yield from made

    def reset(self) -> None:
        for bench in self._benches:
            bench.reset()

    def reach(self, tool: str) -> Reach | None:
        return self._homes[tool].reach(tool)
