"""Plain conversations through the SDK, one per endpoint, each of them for sync clients as well as async ones."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

CHAT_MODEL = "gpt-4o"
TEXT_MODEL = "gpt-3.5-turbo-instruct"
LIMIT = 8
RESULT = "fine"


@dataclass
class Played:
    """What the model did: the calls of every turn as pairs of name and arguments, the answer if there was one."""

    turns: list[list[tuple[str, str]]] = field(default_factory=list)
    answer: str | None = None


Conversation = Callable[[Any, str, list[str]], Awaitable[Played]]


async def settle(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def each(values: Any) -> AsyncIterator[Any]:
    if hasattr(values, "__aiter__"):
        async for value in values:
            yield value
    else:
        for value in values:
            yield value


def schema() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "additionalProperties": False}


def chat_tools(names: list[str]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": schema()}} for name in names]


def response_tools(names: list[str]) -> list[dict[str, Any]]:
    return [{"type": "function", "name": name, "parameters": schema(), "strict": False} for name in names]


async def chat(client: Any, request: str, tools: list[str]) -> Played:
    played, messages = Played(), [{"role": "user", "content": request}]
    while len(played.turns) < LIMIT:
        completion = await settle(
            client.chat.completions.create(model=CHAT_MODEL, messages=messages, tools=chat_tools(tools))
        )
        message = completion.choices[0].message
        if not message.tool_calls:
            played.answer = message.content
            break
        played.turns.append([(call.function.name, call.function.arguments) for call in message.tool_calls])
        messages.append(message.to_dict())
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in message.tool_calls
        ]
    return played


async def chat_streamed(client: Any, request: str, tools: list[str]) -> Played:
    played, messages = Played(), list[dict[str, Any]]([{"role": "user", "content": request}])
    while len(played.turns) < LIMIT:
        create = client.chat.completions.create
        text, calls = await gathered(
            await settle(create(model=CHAT_MODEL, messages=messages, tools=chat_tools(tools), stream=True))
        )
        if not calls:
            played.answer = text
            break
        played.turns.append([(call["function"]["name"], call["function"]["arguments"]) for call in calls])
        messages.append({"role": "assistant", "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
    return played


async def gathered(stream: Any) -> tuple[str, list[dict[str, Any]]]:
    """The text and the calls of a streamed message, put together from their parts."""
    text, calls = "", list[dict[str, Any]]()
    async for chunk in each(stream):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for part in choice.delta.tool_calls or ():
                if part.id:
                    calls.append(
                        {"id": part.id, "type": "function", "function": {"name": part.function.name}}
                    )
                function = calls[part.index]["function"]
                function["arguments"] = function.get("arguments", "") + part.function.arguments
    return text, calls


async def responses(client: Any, request: str, tools: list[str]) -> Played:
    """Each request builds on the response before it."""
    played, given, earlier = Played(), list[Any]([{"role": "user", "content": request}]), None
    while len(played.turns) < LIMIT:
        response = await settle(
            client.responses.create(
                model=CHAT_MODEL, input=given, tools=response_tools(tools), previous_response_id=earlier
            )
        )
        given, earlier = outputs(played, response), response.id
        if not given:
            break
    return played


async def responses_in_full(client: Any, request: str, tools: list[str]) -> Played:
    """Each request brings the whole conversation along."""
    played, items = Played(), list[Any]([{"role": "user", "content": request}])
    while len(played.turns) < LIMIT:
        create = client.responses.create
        response = await settle(
            create(model=CHAT_MODEL, input=items, tools=response_tools(tools), store=False)
        )
        items += [item.to_dict() for item in response.output]
        new = outputs(played, response)
        items += new
        if not new:
            break
    return played


async def responses_streamed(client: Any, request: str, tools: list[str]) -> Played:
    played, given, earlier = Played(), list[Any]([{"role": "user", "content": request}]), None
    while len(played.turns) < LIMIT:
        stream = client.responses.stream(
            model=CHAT_MODEL, input=given, tools=response_tools(tools), previous_response_id=earlier
        )
        response = await streamed_response(stream)
        given, earlier = outputs(played, response), response.id
        if not given:
            break
    return played


async def streamed_response(manager: Any) -> Any:
    if not hasattr(manager, "__aenter__"):
        with manager as stream:
            return stream.get_final_response()
    async with manager as stream:
        return await stream.get_final_response()


def outputs(played: Played, response: Any) -> list[dict[str, Any]]:
    calls = [item for item in response.output if item.type == "function_call"]
    if calls:
        played.turns.append([(call.name, call.arguments) for call in calls])
    else:
        played.answer = response.output_text
    return [{"type": "function_call_output", "call_id": call.call_id, "output": RESULT} for call in calls]


async def assistants(client: Any, request: str, tools: list[str]) -> Played:
    played, beta = Played(), client.beta
    assistant = await settle(beta.assistants.create(model=CHAT_MODEL, tools=chat_tools(tools)))
    thread = await settle(beta.threads.create())
    await settle(beta.threads.messages.create(thread.id, role="user", content=request))
    run = await settle(beta.threads.runs.create(thread.id, assistant_id=assistant.id))
    while (run := await settle(beta.threads.runs.poll(run.id, thread.id))).status == "requires_action":
        calls = run.required_action.submit_tool_outputs.tool_calls
        played.turns.append([(call.function.name, call.function.arguments) for call in calls])
        if len(played.turns) == LIMIT:
            await settle(beta.threads.runs.cancel(run.id, thread_id=thread.id))
            continue
        given = [{"tool_call_id": call.id, "output": RESULT} for call in calls]
        await settle(beta.threads.runs.submit_tool_outputs(run.id, thread_id=thread.id, tool_outputs=given))
    if run.status == "completed":
        page = await settle(beta.threads.messages.list(thread.id, run_id=run.id))
        played.answer = page.data[0].content[0].text.value
    await settle(beta.threads.delete(thread.id))
    await settle(beta.assistants.delete(assistant.id))
    return played


def prompt_for(request: str, tools: list[str]) -> str:
    return "\n".join(
        ["You have these tools:", *(f"- {tool}: does {tool}" for tool in tools), f"Question: {request}\n"]
    )


async def completions(client: Any, request: str, tools: list[str]) -> Played:
    """The loop of a ReAct agent in the script's default syntax."""
    played, prompt = Played(), prompt_for(request, tools)
    while len(played.turns) < LIMIT:
        completion = await settle(
            client.completions.create(model=TEXT_MODEL, prompt=prompt, stop=["Observation:"])
        )
        text = completion.choices[0].text
        if "Final Answer: " in text:
            played.answer = text.partition("Final Answer: ")[2]
            break
        action, _, arguments = text.partition("Action: ")[2].partition("\nAction Input: ")
        played.turns.append([(action, arguments)])
        prompt += f"{text}\nObservation: {RESULT}\n"
    return played


CONVERSATIONS: dict[str, Conversation] = {
    "chat": chat,
    "chat streamed": chat_streamed,
    "responses": responses,
    "responses in full": responses_in_full,
    "responses streamed": responses_streamed,
    "assistants": assistants,
    "completions": completions,
}
