"""A small interface to xllamacpp: one conversation at a time, with reproducible output."""

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

MOST_READERS = 4  # threads that process a prompt together
POLICY = "OMP_WAIT_POLICY"


class Runtime(NamedTuple):
    """The library, and how many of its threads may process a prompt together."""

    library: Any
    readers: int


@cache
def runtime() -> Runtime:
    """Import the library, with threads that sleep rather than spin while waiting, if possible.

    By default they spin, and if other processes need the cores too, two threads are slower than one. OpenMP
    reads the environment variable once, when it is loaded; it is removed afterwards so that child processes
    don't inherit it.
    """
    undecided = sys.platform == "linux" and not (
        POLICY in os.environ or "xllamacpp" in sys.modules or _is_loaded("libgomp.so.1")
    )
    if undecided:
        os.environ[POLICY] = "passive"
    try:
        import xllamacpp
    except ImportError as error:
        raise Unavailable(f"the embedded model failed to start: {error}") from error
    finally:
        if undecided:
            del os.environ[POLICY]
    is_passive = undecided and "OPENMP = 1" in xllamacpp.get_system_info()
    return Runtime(xllamacpp, min(MOST_READERS, cpu_count(), _allowed_threads()) if is_passive else 1)


def cpu_count() -> int:
    """The CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _allowed_threads() -> int:
    """How many threads OpenMP's own variable allows; one is faster if other processes need the cores."""
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return max(1, int(number)) if number.isdecimal() else MOST_READERS


def _is_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


CONTEXT = 8192  # tokens; the model's context length
BATCH = 32  # tokens of a prompt that are processed at once
CACHE_MB = 256  # cache of earlier conversations, so that the next turn processes only what is new
LONGEST_FOLDER = 60  # bytes; systems allow little over a hundred for the path of a socket


class ModelFiles(msgspec.Struct, frozen=True):
    weights: Path
    adapter: Path | None = None


class WritingJob(msgspec.Struct, frozen=True):
    """What to generate: a prompt of texts and control tokens, and when to stop.

    Texts must be free of control tokens (see `plain`), the grammar must be well-formed.
    """

    prompt: tuple[int | str, ...]
    stop: tuple[str, ...] = ()
    grammar: str = ""
    max_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0


class WrittenText(msgspec.Struct, frozen=True):
    """The generated text; `whole` unless the token limit cut it off."""

    text: str
    usage: Usage
    whole: bool


class WritingStopped(ModelError):
    def __init__(self) -> None:
        super().__init__("the embedded model was stopped")


class Engine:
    """Loaded weights, ready to generate text.

    Opening one takes half a second or more, during which no other Python thread runs, and some 200 MB in
    addition to the weights. No two may be opened at the same time.

    The runtime could switch an adapter on and off with each request, but its prompt cache does not take the
    adapter into account. So the adapter of an engine is fixed.
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
                raise Unavailable(f"the embedded model failed to start: {error}") from error
        # A server that is closed before it has started to serve hangs for ever, so wait until it serves.
        self.write(WritingJob((0,), max_tokens=1), lambda: False)

    def write(self, work: WritingJob, unwanted: Callable[[], bool]) -> WrittenText:
        """Generate until done. Raises `WritingStopped` once `unwanted` is true, `ModelError` on failure."""
        chunks = list[dict[str, Any]]()

        def hear(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return unwanted()  # true makes the server drop the request

        self._server.handle_completions(_request(work), hear)
        if unwanted():
            raise WritingStopped
        return _written(chunks)

    def close(self) -> None:
        """Free the weights. Nothing may be generating."""
        del self._server


def _parameters(parameters: Any, weights: Path, readers: int) -> Any:
    parameters.model.path = str(weights)
    parameters.n_ctx = CONTEXT
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cache_ram_mib = CACHE_MB
    # One conversation: on a CPU, two concurrent ones take as long as one after the other.
    parameters.n_parallel = 1
    # Reproducible output, whatever was processed before: sums in attention have a fixed order only with flash
    # attention and batches below 64, one generating thread, and no other hardware used for some batches.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = readers
    parameters.flash_attn_type = 1
    parameters.no_extra_bufts = parameters.no_op_offload = parameters.no_kv_offload = True
    parameters.n_gpu_layers = 0
    parameters.fit_params = parameters.warmup = False
    parameters.verbosity = -1  # below errors: nothing on stdout or stderr
    parameters.offline = True
    parameters.ui = parameters.endpoint_slots = False
    parameters.n_threads_http = 1
    return parameters


@contextmanager
def _unreachable(parameters: Any) -> Iterator[None]:
    """Make the web server that xllamacpp always starts unreachable.

    It listens on a socket in a private folder that is removed once the server has started. If that is not
    possible, it listens on a loopback port and requires a random key.
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
    """Restore the handlers of SIGINT and SIGTERM, which a starting server replaces.

    Works in any thread, unlike `signal.signal`. Windows stores such handlers elsewhere.
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
        "return_progress": True,  # so that a request can be dropped while its prompt is processed
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
        raise ModelError("the embedded model stopped unexpectedly")
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
