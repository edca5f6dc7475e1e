"""The agent's side of a worker process: loads the agent, runs cases, and passes on what it does."""

import asyncio
import faulthandler
import itertools
import os
import queue
import socket
import threading
from typing import Any

import msgspec

from misstep.adapters.loading.recognition import load_agent
from misstep.adapters.processes import keep_orphans, kill_process_tree
from misstep.adapters.subprocess import protocol as say
from misstep.core.agent import Agent, Answer, StepsExhausted, Tool
from misstep.core.outcome import Usage, storable
from misstep.core.text import cut, traceback_in_words
from misstep.errors import MisstepError

LONGEST_ERROR = 4000  # characters


def serve(number: int) -> None:
    """Serve until the other side is gone; never returns."""
    faulthandler.enable(all_threads=False)
    keep_orphans()
    os.register_at_fork(after_in_child=lambda: os.close(number))  # or it stays open after this process
    exchange = MessageDispatcher(say.ProcessLink(socket.socket(fileno=number)))
    order = exchange.orders.get()
    assert isinstance(order, say.LoadAgent)
    # Before there is a loop: the user's file may run its own during import.
    agent = load(exchange, order)
    if agent:
        asyncio.run(work(exchange, agent))
    threading.Event().wait()  # until the connection ends, which kills this process


class MessageDispatcher:
    """Distributes incoming messages: orders to the main loop, replies to the threads that asked."""

    def __init__(self, link: say.ProcessLink) -> None:
        self.orders = queue.SimpleQueue[say.LoadAgent | say.TryCase]()
        self._link = link
        self.tell = link.send
        self._numbers = itertools.count(1)
        self._asking = dict[int, queue.SimpleQueue[say.QuestionReply]]()
        threading.Thread(target=self._listen, name="misstep", daemon=True).start()

    def ask(self, kind: type[say.Question], case: int, *details: Any) -> say.QuestionReply:
        """The reply to a question. Raises `StepsExhausted` if no turns are left."""
        number, answer = next(self._numbers), queue.SimpleQueue[say.QuestionReply]()
        self._asking[number] = answer
        try:
            self._link.send(kind(case, number, *details))
            reply = answer.get()
        finally:
            del self._asking[number]
        if reply.exhausted:
            raise StepsExhausted
        return reply

    def _listen(self) -> None:
        try:
            while True:
                message = self._link.receive(say.to_worker)
                if isinstance(message, say.QuestionReply):
                    self._asking[message.question].put(message)
                else:
                    self.orders.put(message)
        finally:
            kill_process_tree(os.getpid())


def load(exchange: MessageDispatcher, order: say.LoadAgent) -> Agent | None:
    try:
        agent = load_agent(order.spec, order.name)
    except MisstepError as error:
        problem = say.Unloadable(
            storable(error.message), tuple(map(storable, error.hints)), storable(error.where)
        )
    except (Exception, SystemExit) as error:
        problem = say.Unloadable(storable(cut(traceback_in_words(error), LONGEST_ERROR)))
    else:
        exchange.tell(say.AgentLoaded())
        return agent
    exchange.tell(problem)
    return None


async def work(exchange: MessageDispatcher, agent: Agent) -> None:
    while True:
        order = await asyncio.to_thread(exchange.orders.get)
        assert isinstance(order, say.TryCase)
        exchange.tell(await attempt(exchange, agent, order))


async def attempt(exchange: MessageDispatcher, agent: Agent, order: say.TryCase) -> say.Ending:
    try:
        answer: object = await agent.run(order.assignment, RemoteToolbox(exchange, order))
        if not isinstance(answer, Answer):
            raise TypeError(f"the agent returned {type(answer).__name__} instead of an Answer")
        text = storable(answer.text)
        return say.Finished(order.case, msgspec.convert({"text": text, "ended": answer.ended}, Answer))
    except StepsExhausted:
        return say.Exhausted(order.case)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        return say.AgentRaised(order.case, storable(cut(traceback_in_words(error), LONGEST_ERROR)))


class RemoteToolbox:
    """The toolbox of a case, which is on the other side; thread-safe."""

    def __init__(self, exchange: MessageDispatcher, order: say.TryCase) -> None:
        self.tools: tuple[Tool, ...] = order.tools
        self.max_steps = order.max_steps
        self._case = order.case
        self._exchange = exchange

    def begin_turn(self) -> int:
        return self._exchange.ask(say.BeginTurn, self._case).turn

    def ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        self._exchange.ask(say.Ask, self._case, storable(str(name)), sayable(arguments), turn)

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        details = storable(str(name)), sayable(arguments), turn
        return self._exchange.ask(say.CallTool, self._case, *details).result

    def misread(self) -> None:
        self._exchange.tell(say.Misread(self._case))

    def spend(self, usage: Usage) -> None:
        self._exchange.tell(say.SpendUsage(self._case, usage.input, usage.output, usage.cached))

    def wait(self, seconds: float) -> None:
        self._exchange.tell(say.Wait(self._case, seconds))

    def note(self, message: Any) -> None:
        self._exchange.tell(say.Note(self._case, sayable(message)))

    def warn(self, text: str) -> None:
        self._exchange.tell(say.Warn(self._case, storable(text)[:LONGEST_ERROR]))


def sayable(value: Any) -> Any:
    """The value if it is JSON of a reasonable size, else a text that describes it."""
    try:
        length = len(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return storable(f"{type(value).__name__} that is not JSON")
    return value if length < say.LONGEST // 2 else f"{type(value).__name__} of {length} bytes"
