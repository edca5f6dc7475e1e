"""LangChain itself, which is imported when it is first needed."""

from typing import Any

from misstep.errors import MissingExtra


def core() -> Any:
    try:
        import langchain_core.callbacks
        import langchain_core.messages
        import langchain_core.runnables
    except ImportError as error:
        raise MissingExtra("LangChain", "langchain") from error
    return langchain_core
