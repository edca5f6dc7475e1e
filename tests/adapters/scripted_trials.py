"""Trials of one agent in turn, each with a script of its own, so that dear frameworks start once for all."""

import socket
from collections.abc import Mapping

from misstep.adapters.subprocess.agent import SubprocessAgent
from misstep.core.outcome import Usage
from tests.adapters.test_subprocess import Trial, World, play
from tests.scripted import Script, ScriptedServer
from tests.scripted.server import listen


class ScriptedTrial(Trial):
    """A trial against a script, at an address that the next one has as well."""

    def __init__(self, world: World, script: Script, listener: socket.socket) -> None:
        super().__init__(world)
        self._server = ScriptedServer(script, listener)

    async def run(self, agent: SubprocessAgent) -> Trial:
        with self._server:
            await super().run(agent)
        self.asked = len(self._server.model_requests)
        assert self.recorder.usage == Usage(*self._server.tokens) != Usage()
        return self


def play_scripts(
    spec: str, python: str, world: type[World], *scripts: Script, **environment: str
) -> list[ScriptedTrial]:
    """What comes of each script, with one agent."""
    with listen() as listener:
        trials = [ScriptedTrial(world(), script, listener) for script in scripts]
        complete: Mapping[str, str] = {
            "TEST_BASE_URL": f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
            **environment,
        }
        play(spec, *trials, python=python, environment=complete)
    return trials
