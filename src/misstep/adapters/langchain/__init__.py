"""Adapters for LangChain and LangGraph: graphs, `AgentExecutor`s, other runnables, and tools."""

from misstep.adapters.langchain.agent import LangChainAgent, agent, retool

__all__ = ["LangChainAgent", "agent", "retool"]
