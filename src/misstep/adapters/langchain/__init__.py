"""Agents of LangChain and LangGraph as agents under test: graphs, `AgentExecutor`s, other runnables."""

from misstep.adapters.langchain.agent import LangChainAgent, agent, retool

__all__ = ["LangChainAgent", "agent", "retool"]
