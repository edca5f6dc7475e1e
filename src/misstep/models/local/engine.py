"""xllamacpp behind a small interface: one conversation at a time, the same words every time.

xllamacpp, imported in such a way that its threads give way to others.
"""

import ctypes
import os
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from misstep.core.model import ModelError, Unavailable
from misstep.core.outcome import Usage

MOST_READERS = 4  # threads that read a prompt together
POLICY = "OMP_WAIT_POLICY"


class Runtime(NamedTuple):
    """The library, and how many of its threads may read a prompt together."""

    library: Any
    readers: int


@cache
def runtime() -> Runtime:
    """Import it, with threads that sleep while they wait for each other wherever that can be had.

    By default they spin, and where other processes want the cores too, two are slower than one. OpenMP asks
    the environment about it when it is loaded, and never again; other programs are not to see it there.
    """
    undecided = sys.platform == "linux" and not (
        POLICY in os.environ or "xllamacpp" in sys.modules or _is_loaded("libgomp.so.1")
    )
    if undecided:
        os.environ[POLICY] = "passive"
    try:
        import xllamacpp
    except ImportError as error:
        raise Unavailable(f"the embedded model does not start: {error}") from error
    finally:
        if undecided:
            del os.environ[POLICY]
    is_passive = undecided and "OPENMP = 1" in xllamacpp.get_system_info()
    return Runtime(xllamacpp, min(MOST_READERS, usable_cores()) if is_passive else 1)


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


CONTEXT = 8192  # tokens that the model was made to read
BATCH = 32  # tokens of a prompt that are read at once
CACHE_MB = 256  # what earlier conversations may take up, so that the next turn reads only what is new
LONGEST_FOLDER = 60  # bytes; systems allow a little over a hundred for the path of a socket


class ModelFiles(msgspec.Struct, frozen=True):
    """What makes a model: its weights, and what has been taught to it since."""

    weights: Path
    adapter: Path | None = None


class WritingJob(msgspec.Struct, frozen=True):
    """What to write: a prompt of texts and control tokens, and when to stop.

    Texts must be free of control tokens (see `plain`), the grammar must be well-formed.
    """

    prompt: tuple[int | str, ...]
    stop: tuple[str, ...] = ()
    grammar: str = ""
    max_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0


class WrittenText(msgspec.Struct, frozen=True):
    """What was written; it is `whole` unless the limit on tokens cut it off."""

    text: str
    usage: Usage
    whole: bool


class WritingStopped(ModelError):
    """Nobody wants the text any more."""

    def __init__(self) -> None:
        super().__init__("the embedded model was stopped")


class Engine:
    """The weights, ready to write.

    Opening one takes half a second or more, in which no other thread of Python runs, and some 200 MB besides
    the weights. No two may be opened at the same time.

    The runtime could switch an adapter on and off with each request, but what it keeps of earlier prompts it
    takes for the same however they were read. So an engine has its adapter for good.
    """

    def __init__(self, files: ModelFiles) -> None:
        xllamacpp, readers = runtime()
        parameters = _parameters(xllamacpp.CommonParams(), files.weights, readers)
        if files.adapter:
            parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(files.adapter), 1.0)]
        with _own_signals(), _unreachable(parameters):
            try:
                self._server = xllamacpp.Server(parameters)
            except RuntimeError as error:
                raise Unavailable(f"the embedded model does not start: {error}") from error
        # A server that is closed before it has begun to serve hangs for ever: see it serve.
        self.write(WritingJob((0,), max_tokens=1), lambda: False)

    def write(self, work: WritingJob, unwanted: Callable[[], bool]) -> WrittenText:
        """Write until done. Raises `WritingStopped` once `unwanted` is true, `ModelError` if it fails."""
        chunks = list[dict[str, Any]]()

        def hear(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return unwanted()  # true makes the server drop the request

        self._server.handle_completions(_request(work), hear)
        if unwanted():
            raise WritingStopped
        return _written(chunks)

    def close(self) -> None:
        """Free the weights. Nobody may be writing."""
        del self._server


def _parameters(parameters: Any, weights: Path, readers: int) -> Any:
    parameters.model.path = str(weights)
    parameters.n_ctx = CONTEXT
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cache_ram_mib = CACHE_MB
    # One conversation: on a CPU, two side by side take as long as one after the other.
    parameters.n_parallel = 1
    # The same words every time, whatever was read before: attention adds up in one order only as long as it
    # is "flash" with batches below 64, one thread does the writing, and no other hardware may join in for
    # some batches.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = readers
    parameters.flash_attn_type = 1
    parameters.no_extra_bufts = parameters.no_op_offload = parameters.no_kv_offload = True
    parameters.n_gpu_layers = 0
    parameters.fit_params = parameters.warmup = False
    parameters.verbosity = -1  # less than errors: nothing on stdout or stderr
    parameters.offline = True
    parameters.ui = parameters.endpoint_slots = False
    parameters.n_threads_http = 1
    return parameters


@contextmanager
def _unreachable(parameters: Any) -> Iterator[None]:
    """Keep everybody from the web server that xllamacpp can't do without.

    It listens on a socket in a private folder that is gone once the server has started. Where that can't
    be had it listens on some port of the loopback device, and asks for a key that nobody knows.
    """
    parameters.api_keys = [secrets.token_urlsafe()]
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(tempfile.gettempdir())) > LONGEST_FOLDER:
        parameters.hostnames, parameters.port = ["127.0.0.1"], 0
        yield
        return
    with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
        parameters.hostnames = [f"{folder}/private.sock"]
        yield


@contextmanager
def _own_signals() -> Iterator[None]:
    """Take back SIGINT and SIGTERM, which a starting server claims for itself.

    Works in any thread, unlike `signal.signal`. Windows keeps such handlers elsewhere.
    """
    get, set_ = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    get.restype = set_.restype = ctypes.c_void_p
    set_.argtypes = [ctypes.c_int, ctypes.c_void_p]
    before = {number: get(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            set_(number, handler)


def _request(work: WritingJob) -> dict[str, Any]:
    request: dict[str, Any] = {
        "prompt": list(work.prompt),
        "stop": [stop for stop in work.stop if stop],
        "max_tokens": work.max_tokens,
        "temperature": work.temperature,
        "seed": work.seed,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # so that a request can be dropped while its prompt is read
    }
    if work.grammar:
        request["grammar"] = work.grammar
    return request


def _written(chunks: list[dict[str, Any]]) -> WrittenText:
    for chunk in chunks:
        if "error" in chunk:
            raise _failure(chunk["error"])
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    reported = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    if reported is None:
        raise ModelError("the embedded model broke off")
    cached = reported["prompt_tokens_details"]["cached_tokens"]
    return WrittenText(
        "".join([choice["text"] for choice in choices]),
        Usage(reported["prompt_tokens"], reported["completion_tokens"], cached),
        choices[-1]["finish_reason"] != "length",
    )


def _failure(error: dict[str, Any]) -> ModelError:
    if error.get("type") == "exceed_context_size_error":
        return ModelError(
            f"the conversation has {error['n_prompt_tokens']:,} tokens, the embedded model reads {CONTEXT:,}",
            "shorten the request, describe the tools in fewer words, or choose a larger model",
        )
    return ModelError(f"the embedded model failed: {error.get('message', 'no reason given')}")
