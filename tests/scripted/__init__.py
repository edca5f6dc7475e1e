"""A model with a script, behind OpenAI's protocol: what agents are tested against."""

from tests.scripted.script import Fault, Script
from tests.scripted.server import ScriptedServer

__all__ = ["Fault", "Script", "ScriptedServer"]
