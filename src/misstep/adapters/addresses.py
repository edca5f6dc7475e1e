"""Where the model of the case that runs now is to be found, for agents that start a process for each."""

from contextvars import ContextVar

current_base_url: ContextVar[str | None] = ContextVar("current_base_url", default=None)


def addresses() -> dict[str, str]:
    """The variables that point the usual clients there; none where nothing stands between agent and model."""
    url = current_base_url.get()
    return {"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url.removesuffix("/v1")} if url else {}
