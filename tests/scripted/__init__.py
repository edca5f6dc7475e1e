"""A model with a script, behind OpenAI's protocol: what agents are tested against."""

from tests.scripted.script import Call, Fault, Script, calling
from tests.scripted.server import ScriptedServer

__all__ = ["Call", "Fault", "Script", "ScriptedServer", "calling"]
