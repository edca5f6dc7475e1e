"""An agent of Pydantic AI with tools of its own, which are replaced."""

import os

import openai
import pydantic_ai
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

client = openai.AsyncOpenAI(base_url=os.environ["TEST_BASE_URL"], api_key="sk-test", max_retries=0)
model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client))
agent = pydantic_ai.Agent(model)


@agent.tool_plain
def real_tool() -> str:
    """Must never be called."""
    raise AssertionError
