"""CrewAI: an agent that exists and gets other tools, a crew that is made for them."""

import os
from typing import Any

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

llm = LLM(model="openai/gpt-4o", base_url=os.environ["TEST_BASE_URL"], api_key="sk-test", max_retries=0)


@tool
def real_tool() -> str:
    """Must never be called."""
    raise AssertionError


def new_agent(tools: list[Any]) -> Agent:
    return Agent(role="steward", goal="Do what is asked.", backstory="Reliable.", llm=llm, tools=tools)


existing = new_agent([real_tool])


def make_crew(tools: list[Any]) -> Crew:
    steward = new_agent(tools)
    task = Task(description="{request}", expected_output="A short report.", agent=steward)
    return Crew(agents=[steward], tasks=[task])
