"""Text completion: the prompt is all the model knows; the script says how to read it."""

from tests.scripted.chat import count, include_usage
from tests.scripted.decisions import complete
from tests.scripted.parts import CREATED, ApiError, Ids, Json, cut, need, pieces, words
from tests.scripted.script import Script
from tests.scripted.wire import Reply, event


def answer_completion(script: Script, ids: Ids, body: Json) -> Reply:
    need(body, "model", "prompt")
    prompts = prompts_of(body["prompt"])
    texts = [cut(complete(script, prompt), body.get("stop")) for prompt in prompts]
    usage = count(words(prompts), words(texts))
    head = {"id": ids.new("cmpl-"), "object": "text_completion", "created": CREATED, "model": body["model"]}
    if body.get("stream"):
        return Reply(events=stream(head, texts, usage if include_usage(body) else None))
    choices = [choice(index, text, "stop") for index, text in enumerate(texts)]
    return Reply({**head, "choices": choices, "usage": usage})


def prompts_of(prompt: object) -> list[str]:
    prompts = prompt if isinstance(prompt, list) else [prompt]
    texts = [each for each in prompts if isinstance(each, str)]
    if len(texts) < len(prompts):
        raise ApiError(400, "This server reads prompts as text, not as tokens.", param="prompt")
    return texts


def choice(index: int, text: str, reason: str | None) -> Json:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}


def stream(head: Json, texts: list[str], usage: Json | None) -> tuple[str, ...]:
    choices = list[Json]()
    for index, text in enumerate(texts):
        choices += [choice(index, piece, None) for piece in pieces(text)] + [choice(index, "", "stop")]
    chunks = [{**head, "choices": [each]} for each in choices]
    if usage:
        chunks.append({**head, "choices": [], "usage": usage})
    return (*map(event, chunks), event("[DONE]"))
