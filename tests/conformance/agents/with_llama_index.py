"""An agent of LlamaIndex with tools of its own, which are replaced."""

import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI


def real_tool() -> str:
    """Must never be called."""
    raise AssertionError


llm = OpenAI(model="gpt-4o", api_base=os.environ["TEST_BASE_URL"], api_key="sk-test", max_retries=0)
existing = FunctionAgent(tools=[real_tool], llm=llm)
