"""Agents of LangChain and LangGraph as agents under test: graphs, `AgentExecutor`s, other runnables."""

from misstep.adapters.frameworks.langchain.runnables import LangChainAgent, agent, retool

__all__ = ["LangChainAgent", "agent", "retool"]
