"""Runs that neighbours' formats are made from and held against."""

from pathlib import Path
from typing import Any

import msgspec

import misstep
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.store.runs import Store

HOSTILE = '=HYPERLINK("http://x","y")\n"ü\u2028𝕏\t</script>,;'


class Motley:
    """Ends in every way that there is: right, wrong, with nonsense, in parallel, late, broken."""

    name = "motley"

    def __init__(self) -> None:
        self.cases = 0

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.cases += 1
        tools = [tool.name for tool in toolbox.tools]
        match self.cases % 8:
            case 0:
                raise ConnectionError(HOSTILE)
            case 1:
                toolbox.call(tools[0], {})
                return Answer("too slow", "timeout")
            case 2:
                toolbox.call(tools[0], {"nonsense": HOSTILE})
            case 3:
                toolbox.call("no_such_tool", {})
            case 4:
                toolbox.call(tools[0], "{not json")
            case 5:
                turn = toolbox.begin_turn()
                for tool in tools:
                    toolbox.ask(tool, {}, turn)
                for tool in reversed(tools):
                    toolbox.call(tool, {}, turn)
                return Answer(HOSTILE)
            case 6:
                turn = toolbox.begin_turn()
                for tool in tools:
                    toolbox.ask(tool, {}, turn)
                toolbox.call(tools[0], {}, turn)
                return Answer("left the rest")
        for tool in reversed(tools):
            toolbox.call(tool, {})
        return Answer("done")


def run(tmp_path: Path, **more: Any) -> Settings:
    """A run whose cases come in every kind; its store and its cases are in the folder."""
    agent = more.pop("by", None)
    given: dict[str, Any] = {"count": 40, "jobs": 1, "store": str(tmp_path / "store.db"), **more}
    settings = Settings(**given)
    misstep.run_agent(settings, agent=agent)
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(b"\n".join(map(_encoded, misstep.synthesise(settings))) + b"\n")
    return settings


def _encoded(case: misstep.Case) -> bytes:
    return msgspec.json.encode(case)


def outcomes(settings: Settings) -> list[Outcome]:
    with Store(settings.store) as store:
        return list(store.outcomes(store.find_run("last").id))


def verdicts(checked: list[Outcome]) -> dict[str, Any]:
    """What was found wrong with each case; the words for what broke are those of whoever wrote it down."""

    def told(verdict: misstep.Verdict) -> misstep.Verdict:
        own = verdict.verdict == "errored"
        return msgspec.structs.replace(verdict, explanation="") if own else verdict

    return {each.case.id: told(each.verdict) for each in checked}
