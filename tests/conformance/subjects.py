"""What the conformance suite is run on: one subject per adapter, each in a file of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec

from misstep.core.agent import Agent
from tests.conformance.schemas import Rewrite, unchanged
from tests.scripted import Script, ScriptedServer


@dataclass(frozen=True)
class Subject:
    """An adapter under test.

    `make` gives an agent whose model is the scripted server; `needs` are the modules it can't do without.
    `serve` gives a server for a script; an agent whose processes live on has one at an address that stays.
    `at_once` is how many cases are tried side by side; where every case has a process to itself, of a kind that
    another subject has ten of, a few do. `parallel` is False where the paradigm has one call per turn at most.
    `hides` names what the framework keeps from us, so that only the recording proxy can see it: behaviours with a
    bad call, kinds of arguments that don't fit, "turns", "usage", "sockets". `rewrites` is what the framework does
    to the schema of every tool that it is given. `checks` names the kinds of arguments for which it has an error of
    its own, so that such a call is never carried out. Say why where you set one of them. `slow` subjects are tested
    in the full tier only.
    """

    word: str
    make: Callable[[ScriptedServer], Agent]
    needs: tuple[str, ...] = ()
    serve: Callable[[Script], ScriptedServer] = ScriptedServer
    at_once: int = 10
    parallel: bool = True
    hides: tuple[str, ...] = ()
    rewrites: Rewrite = unchanged
    checks: tuple[str, ...] = ()
    slow: bool = False

    @property
    def missing(self) -> str:
        """The first module that is not installed."""
        return next((name for name in self.needs if find_spec(name) is None), "")


class Owning:
    """An agent together with a client that is closed with it, since adapters don't close what users made."""

    def __init__(self, agent: Agent, close: Callable[[], Awaitable[None]]) -> None:
        self.name = agent.name
        self.run = agent.run
        self.close = close
