"""Third-party tools for file tasks, imported when needed."""

from typing import Any

from misstep.errors import UsageError


def langchain_tools() -> list[Any]:
    """LangChain's file tools, for the current folder."""
    try:
        from langchain_community.agent_toolkits import FileManagementToolkit
    except ImportError as error:
        hint = "pip install langchain-community, or pass an interpreter that has it with --python"
        raise UsageError("langchain-community is not installed", hint) from error
    tools: list[Any] = FileManagementToolkit(root_dir=".").get_tools()
    return tools
