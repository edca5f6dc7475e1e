"""Reproduces a finding through an agent, from settings to report, with a model behind a real server."""

from collections import Counter
from pathlib import Path
from typing import Any

from misstep.core.results.fuzzing import AgentReach, ToolReport
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.scripted_roles import settings_for, stage_of
from tests.scripted import Script, ScriptedServer


def settings_in(place: Path, url: str, **given: Any) -> Settings:
    usual = {"timeout": 10.0, "jobs": 1, "calls_per_tool": 30, "store": str(place / "store.db")}
    return settings_for(url, **{**usual, **given})


class Told:
    """The reports of a run, and every prompt that the model has seen."""

    def __init__(self, tools: tuple[ToolReport, ...], prompts: list[str]) -> None:
        self.tools = tools
        self.prompts = prompts

    @property
    def tool(self) -> ToolReport:
        return self.tools[0]

    @property
    def journey(self) -> AgentReach:
        assert self.tool.journey is not None
        return self.tool.journey

    @property
    def stages(self) -> Counter[Stage | None]:
        return Counter(map(stage_of, self.prompts))


def reproduce(place: Path, script: Script, name: str = "split_bill", **given: Any) -> Told:
    with ScriptedServer(script) as server:
        settings = settings_in(place, server.base_url, **given)
        report = fuzz_tools(settings, [f"{place}/bills.py:{name}"])
        return Told(report.tools, said_to(server))


def said_to(server: ScriptedServer) -> list[str]:
    bodies = [request.body["messages"] for request in server.model_requests]
    return ["\n".join(each["content"] or "" for each in messages) for messages in bodies]
