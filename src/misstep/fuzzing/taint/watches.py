"""The library functions that are watched, and what each of them records about a marked text."""

import ast
import base64
import builtins
import csv
import fractions
import functools
import importlib
import json
import os.path
import pathlib
import re
import shlex
import sys
import urllib.parse
import uuid
import xml.etree.ElementTree
from collections.abc import Callable
from types import ModuleType
from typing import Any

from misstep.fuzzing.taint.containers import row
from misstep.fuzzing.taint.dressing import dress, plain
from misstep.fuzzing.taint.marked import origin_of
from misstep.fuzzing.taint.patterns import watched_pattern
from misstep.fuzzing.taint.record import ValueOrigin
from misstep.fuzzing.taint.tables import watch_names, watch_objects, watch_reading
from misstep.fuzzing.taint.text import MarkedText, text

_strptime = importlib.import_module("_strptime")  # implements `strptime` for dates and times

Function = Callable[..., Any]
Watch = Callable[[Function], Function]
Dress = Callable[[Any, ValueOrigin], Any]

_MATCHING = ("match", "search", "fullmatch", "findall", "finditer", "split", "sub")
_PATHS = ("abspath", "exists", "isabs", "isdir", "isfile", "normpath", "realpath", "getsize")
_PARTICULAR = (
    ("sys", "intern"),
    ("collections", "namedtuple"),
    ("marshal", "dump"),
    ("marshal", "dumps"),
    ("msgspec.json", "encode"),
    ("msgspec.msgpack", "encode"),
    ("yaml", "dump"),
    ("yaml", "dump_all"),
    ("yaml", "safe_dump"),
    ("yaml", "safe_dump_all"),
)
_PATH_PARTS = ("basename", "dirname")


def _as_it_is(result: Any, _: ValueOrigin) -> Any:
    return result


def _parsed(step: str, *operands: Any) -> Dress:
    return lambda result, origin: dress(result, origin.step(step, *operands))


def watch(operation: str, operand: Any = None, dressed: Dress = _as_it_is, at: int = 0) -> Watch:
    """Record calls of a function whose argument number `at` may be marked; it gets the plain value."""

    def around(original: Function) -> Function:
        @_like(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            origin = origin_of(args[at]) if len(args) > at else None
            if origin is None:
                return original(*args, **kwargs)
            wanted = operand(args) if callable(operand) else operand
            args = (*args[:at], plain(args[at]), *args[at + 1 :])
            try:
                result = original(*args, **kwargs)
            except Exception:
                origin.note(operation, wanted, False)
                raise
            origin.note(operation, wanted, True)
            return dressed(result, origin)

        return stand_in

    return around


def _like(original: Function) -> Watch:
    def around(stand_in: Any) -> Function:
        for name in ("cache_clear", "cache_info", "cache_parameters"):
            if hasattr(original, name):
                setattr(stand_in, name, getattr(original, name))
        return functools.wraps(original)(stand_in)

    return around


def _url_parts(result: Any, origin: ValueOrigin) -> Any:
    parts = [text(part, origin.step("url", name)) for name, part in zip(result._fields, result, strict=True)]
    return type(result)(*parts)


def _query_values(result: dict[str, list[str]], origin: ValueOrigin) -> Any:
    step = origin.step("query")
    return dress(result, step)


def _split_path(result: tuple[str, str], origin: ValueOrigin, name: str) -> Any:
    return tuple(text(part, origin.step(name, place)) for place, part in enumerate(result))


def _words(result: list[str], origin: ValueOrigin) -> Any:
    step = origin.step("words")
    return row([text(word, step.below(place)) for place, word in enumerate(result)], step) if step else result


def _watch_matching(name: str) -> Watch:
    """Watch `re.match` and similar functions through the pattern, which records by itself."""

    def around(original: Function) -> Function:
        at = 2 if name == "sub" else 1

        @_like(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            if len(args) <= at or type(args[at]) is not MarkedText:
                return original(*args, **kwargs)
            flags = kwargs.pop(
                "flags", args[at + 1] if name not in ("split", "sub") and args[at + 1 :] else 0
            )
            rest = () if name not in ("split", "sub") else args[at + 1 :]
            if len(rest) > 1:  # flags by position as well
                return original(*args, **kwargs)
            pattern = watched_pattern(re.compile(plain(args[0]), flags))
            return getattr(pattern, name)(*args[1 : at + 1], *rest, **kwargs)

        return stand_in

    return around


def _watch_compiling(original: Function) -> Function:
    @_like(original)
    def stand_in(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        origin = origin_of(pattern)
        if origin is None:
            compiled = original(pattern, *args, **kwargs)
            is_text = type(compiled) is re.Pattern and isinstance(compiled.pattern, str)
            return watched_pattern(compiled) if is_text else compiled
        return watch("pattern")(original)(pattern, *args, **kwargs)

    return stand_in


def _given_plain(original: Function) -> Function:
    """For a function that requires exact types: pass it plain values."""

    @_like(original)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return original(*plain(args), **plain(kwargs))

    return stand_in


def particular() -> dict[tuple[ModuleType, str], Function]:
    """Replacements for functions of loaded modules that accept only plain values."""
    loaded = [(sys.modules[module], name) for module, name in _PARTICULAR if module in sys.modules]
    return {
        (owner, name): _given_plain(getattr(owner, name)) for owner, name in loaded if hasattr(owner, name)
    }


def _watch_paths(name: str) -> Watch:
    """Watch functions that join path components; marked ones stay marked."""

    def around(original: Function) -> Function:
        @_like(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            for value in args:
                origin = origin_of(value)
                if origin:
                    origin.note("path", name, True)
            return original(*args, **kwargs)

        return stand_in

    return around


def _making(around: Watch) -> Callable[[Any], Any]:
    """For `__new__`, which is a static method."""
    return lambda original: staticmethod(around(original.__func__))


@functools.cache
def functions() -> dict[tuple[ModuleType, str], Function]:
    """The replacement for each watched function."""
    watches: dict[tuple[Any, str], Watch] = {
        (json, "loads"): watch("json", dressed=_parsed("json")),
        (ast, "literal_eval"): watch("literal", dressed=_parsed("literal")),
        (base64, "b64decode"): watch("base64", dressed=_parsed("base64")),
        (base64, "urlsafe_b64decode"): watch("base64", dressed=_parsed("base64")),
        (urllib.parse, "urlsplit"): watch("url", dressed=_url_parts),
        (urllib.parse, "urlparse"): watch("url", dressed=_url_parts),
        (urllib.parse, "parse_qs"): watch("query", dressed=_query_values),
        (urllib.parse, "unquote"): watch("unquote", dressed=_parsed("unquote")),
        (xml.etree.ElementTree, "fromstring"): watch("xml"),
        (_strptime, "_strptime_datetime"): watch("strptime", lambda args: args[2], at=1),
        (_strptime, "_strptime_time"): watch("strptime", lambda args: args[1] if args[1:] else None),
        (shlex, "split"): watch("words", dressed=_words),
        (builtins, "open"): watch("path", "open"),
        (csv, "reader"): watch_reading,
        (re, "compile"): _watch_compiling,
    }
    watches |= {(re, name): _watch_matching(name) for name in _MATCHING}
    watches |= {(os.path, name): watch("path", name) for name in _PATHS}
    watches |= {(os.path, name): watch("path", name, _parsed(name)) for name in _PATH_PARTS}
    watches[os.path, "join"] = _watch_paths("join")
    for name in ("split", "splitext"):
        watches[os.path, name] = watch("path", name, functools.partial(_split_path, name=f"path {name}"))
    return {(owner, name): around(getattr(owner, name)) for (owner, name), around in watches.items()}


# Methods of classes written in Python: replacing them in the class is enough.
METHODS: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (json.JSONDecoder, "decode", watch("json", dressed=_parsed("json"), at=1)),
    (csv.DictReader, "__next__", watch_objects),
    (csv.DictReader, "fieldnames", watch_names),
    (uuid.UUID, "__init__", watch("uuid", at=1)),
    (fractions.Fraction, "__new__", _making(watch("Fraction", at=1))),
    (pathlib.PurePath, "__new__", _making(_watch_paths("Path"))),
    (pathlib.Path, "__new__", _making(_watch_paths("Path"))),
]
