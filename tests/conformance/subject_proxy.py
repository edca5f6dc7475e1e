"""Agents behind the recording proxy: nothing that a model asked for is hidden any more."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import openai

from misstep.adapters.loading.recognition import PlainAgent, PlainTool
from misstep.adapters.proxy.agent import ProxiedAgent, RecordingProxy
from misstep.core.agent import Agent
from tests.conformance import subject_adk, subject_plain, subject_smolagents
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer
from tests.scripted.conversations import gathered


def behind_proxy(subject: Subject) -> Subject:
    """The same with the proxy between agent and server, which closes all sockets when it is closed."""
    make: Callable[[Any], Agent] = subject.make

    def made(server: ScriptedServer) -> Agent:
        proxy = RecordingProxy(server.base_url)
        with ThreadPoolExecutor(1) as beside_the_loop:
            beside_the_loop.submit(asyncio.run, proxy.start()).result()
        return ProxiedAgent(make(proxy), proxy)

    needs = (*subject.needs, "uvicorn", "httpx")
    return replace(subject, word=f"{subject.word} behind proxy", make=made, needs=needs, hides=())


def make_streaming(server: ScriptedServer) -> Agent:
    """A loop on streams that doesn't ask for tokens."""

    async def agent(request: str, tools: list[PlainTool]) -> str:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0) as client:
            messages: list[Any] = [{"role": "user", "content": request}]
            while True:
                stream = await client.chat.completions.create(
                    model="gpt-4o", messages=messages, tools=subject_plain.described(tools), stream=True
                )
                text, calls = await gathered(stream)
                said = {"role": "assistant", "content": text, "tool_calls": calls or None}
                message = openai.types.chat.ChatCompletionMessage.model_validate(said)
                if not subject_plain.advance(messages, message, tools):
                    return text

    return PlainAgent(agent, "plain streaming")


# ADK mends malformed arguments, smolagents answers by a tool of its own and waits in threads.
SUBJECTS = [
    behind_proxy(each)
    for each in (
        *subject_plain.SUBJECTS,
        Subject("plain streaming", make_streaming, ("openai",)),
        subject_adk.SUBJECTS[0],
        subject_smolagents.SUBJECTS[0],
    )
]
