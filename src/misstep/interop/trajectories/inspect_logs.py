"""Reads logs of Inspect, plain JSON or packed, without Inspect itself."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import msgspec

from misstep.core.outcome import Ended, Usage
from misstep.errors import MissingExtra, UsageError
from misstep.interop.trajectories.trajectory import Trajectory, count_in, names_in, read_messages, text_in

SAMPLE = re.compile(r"samples/.*\.json", re.DOTALL)
LARGEST = 1 << 28  # bytes of an unpacked sample
ATTACHED = "attachment://"
_LIMITS: dict[str, Ended] = {"time": "timeout", "working": "timeout"}


def is_log(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "samples" in value


def read_log(value: dict[str, Any], where: str) -> Iterator[Trajectory]:
    samples = value["samples"]
    if not isinstance(samples, list) or not samples:
        raise UsageError("an Inspect log without samples", where=where)
    for number, sample in enumerate(samples, 1):
        yield _read_sample(sample, f"{where}, sample {number}")


def read_packed(path: str) -> Iterator[Trajectory]:
    """The samples of an `.eval` file, one at a time."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = [each for each in packed.infolist() if SAMPLE.fullmatch(each.filename)]
            if not names:
                raise UsageError("not an Inspect log, or one without samples", where=path)
            for each in names:
                yield _read_sample(_unpack(packed, each, path), f"{path}, {each.filename}")
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        hint = "the file may be truncated"
        raise UsageError(f"not an Inspect log: {error}", hint, where=path) from error


def _unpack(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> Any:
    where = f"{path}, {entry.filename}"
    if entry.file_size > LARGEST:
        hint = f"at most {LARGEST:,} are read"
        raise UsageError(f"a sample of {entry.file_size:,} bytes", hint, where=where)
    with suppress(ImportError):
        import_module("zipfile_zstd")  # adds the compression that Inspect uses to `zipfile`
    try:
        with packed.open(entry) as file:
            data = file.read(LARGEST + 1)
    except NotImplementedError as error:
        what = "zstandard, which unpacks this Inspect log,"
        raise MissingExtra(what, "inspect", f"it is {path}") from error
    if len(data) > LARGEST:
        raise UsageError("a sample larger than its header says", where=where)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", where=where) from error


def _read_sample(sample: Any, where: str) -> Trajectory:
    if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
        raise UsageError("not a sample of Inspect: it has no messages", where=where)
    attached = sample.get("attachments")
    sample = _resolved(sample, attached if isinstance(attached, dict) else {})
    found = read_messages(sample["messages"], where)
    error, used, limit = sample.get("error"), sample.get("model_usage"), sample.get("limit")
    ended: Ended = "error" if error else "answered"
    if isinstance(limit, dict):
        ended = _LIMITS.get(str(limit.get("type")), "iterations")
    usage = Usage()
    for each in used.values() if isinstance(used, dict) else ():
        # Inspect counts cached tokens separately from the other input.
        cached = count_in(each, "input_tokens_cache_read")
        usage += Usage(count_in(each, "input_tokens") + cached, count_in(each, "output_tokens"), cached)
    return msgspec.structs.replace(
        found,
        names=names_in({"metadata": sample.get("metadata"), "id": sample.get("id")}),
        request=_request(sample) or found.request,
        ended=ended,
        error=str(error.get("message", "")) if isinstance(error, dict) else "",
        usage=usage,
    )


def _request(sample: dict[str, Any]) -> str:
    given = sample.get("input")
    if isinstance(given, list):
        return next((text_in(each.get("content")) for each in given if each.get("role") == "user"), "")
    return given if isinstance(given, str) else ""


def _resolved(value: Any, attached: dict[str, Any]) -> Any:
    """The value with Inspect's attachments (long texts) inserted."""
    if isinstance(value, str):
        return attached.get(value.removeprefix(ATTACHED), value) if value.startswith(ATTACHED) else value
    if isinstance(value, list):
        return [_resolved(each, attached) for each in value]
    if isinstance(value, dict):
        return {key: _resolved(each, attached) for key, each in value.items() if key != "attachments"}
    return value
