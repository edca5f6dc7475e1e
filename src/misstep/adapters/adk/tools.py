"""Calls tools of Google's Agent Development Kit, in a session that nothing else uses."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns its result."""
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.sessions import InMemorySessionService, Session
    from google.adk.tools import ToolContext

    session = Session(id="session-1", app_name="misstep", user_id="user-1")
    running = InvocationContext(
        session_service=InMemorySessionService(), invocation_id="invocation-1", session=session
    )

    def invoke(arguments: dict[str, Any]) -> Any:
        return loop.settle(tool.run_async(args=arguments, tool_context=ToolContext(running)))

    return invoke
