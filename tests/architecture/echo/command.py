"""Its run, and what `misstep show` prints of it."""

from misstep.core.results.summary import Summary
from misstep.core.run import FixedSuite, RunSpec
from misstep.core.settings import Settings
from misstep.runs.cases import synthesise
from misstep.runs.lifecycle import RunWork, start


def echo(settings: Settings) -> Summary:
    cases = list(synthesise(settings))
    work = RunWork(lambda _: FixedSuite(cases), lambda: cases, len(cases), purpose=RunSpec("echo"))
    return start(settings, work, (), None)


def show_stored(settings: Settings, run: str, most: int) -> None:
    print(f"the echo of {run}")
