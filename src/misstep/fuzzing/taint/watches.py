"""The library functions that are watched, and what each of them records about a marked value."""

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
from collections.abc import Callable, Iterator
from decimal import Decimal
from types import CodeType, ModuleType
from typing import Any

from misstep.fuzzing.taint.record import ValueOrigin
from misstep.fuzzing.taint.stand_ins import watch_names, watch_objects, watch_reading, watched_pattern
from misstep.fuzzing.taint.text import MarkedText, mark, plain, text
from misstep.fuzzing.taint.values import origin_of

_strptime = importlib.import_module("_strptime")  # implements `strptime` for dates and times

Function = Callable[..., Any]
Watch = Callable[[Function], Function]
Mark = Callable[[Any, ValueOrigin], Any]

_MATCHING = ("match", "search", "fullmatch", "findall", "finditer", "split", "sub")
_PATHS = ("abspath", "exists", "isabs", "isdir", "isfile", "normpath", "realpath", "getsize")
_PARTICULAR = {
    "sys": ("intern",),
    "collections": ("namedtuple",),
    "marshal": ("dump", "dumps"),
    "msgspec.json": ("encode",),
    "msgspec.msgpack": ("encode",),
    "yaml": ("dump", "dump_all", "safe_dump", "safe_dump_all"),
}
_PATH_PARTS = ("basename", "dirname")


def _parsed(step: str, *operands: Any) -> Mark:
    return lambda result, origin: mark(result, origin.step(step, *operands))


def watch(operation: str, operand: Any = None, mark_result: Mark | None = None, at: int = 0) -> Watch:
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
            return mark_result(result, origin) if mark_result else result

        return stand_in

    return around


def _like(original: Function) -> Watch:
    def around(stand_in: Any) -> Function:
        for name in ("cache_clear", "cache_info", "cache_parameters"):
            if hasattr(original, name):
                setattr(stand_in, name, getattr(original, name))
        return functools.wraps(original)(stand_in)

    return around


def _path_parts(step: str) -> Mark:
    return lambda result, origin: tuple(
        text(part, origin.step(step, place)) for place, part in enumerate(result)
    )


def _url_parts(result: Any, origin: ValueOrigin) -> Any:
    parts = [text(part, origin.step("url", name)) for name, part in zip(result._fields, result, strict=True)]
    return type(result)(*parts)


def _watch_matching(name: str) -> Watch:
    """Watch `re.match` and similar functions through the pattern, which records by itself."""

    def around(original: Function) -> Function:
        at = 2 if name == "sub" else 1

        @_like(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            if len(args) <= at or type(args[at]) is not MarkedText:
                return original(*args, **kwargs)
            rest = args[at + 1 :]  # a count for `split` and `sub`, then flags
            if name in ("split", "sub"):
                if len(rest) > 1:
                    return original(*args, **kwargs)
                flags = kwargs.pop("flags", 0)
            else:
                flags, rest = kwargs.pop("flags", rest[0] if rest else 0), ()
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
    return {
        (sys.modules[module], name): _given_plain(getattr(sys.modules[module], name))
        for module, names in _PARTICULAR.items()
        for name in names
        if module in sys.modules and hasattr(sys.modules[module], name)
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


def functions() -> dict[tuple[ModuleType, str], Function]:
    """The replacement for each watched function."""
    watches: dict[tuple[Any, str], Watch] = {
        (json, "loads"): watch("json", mark_result=_parsed("json")),
        (ast, "literal_eval"): watch("literal", mark_result=_parsed("literal")),
        (base64, "b64decode"): watch("base64", mark_result=_parsed("base64")),
        (base64, "urlsafe_b64decode"): watch("base64", mark_result=_parsed("base64")),
        (urllib.parse, "urlsplit"): watch("url", mark_result=_url_parts),
        (urllib.parse, "urlparse"): watch("url", mark_result=_url_parts),
        (urllib.parse, "parse_qs"): watch("query", mark_result=_parsed("query")),
        (urllib.parse, "unquote"): watch("unquote", mark_result=_parsed("unquote")),
        (xml.etree.ElementTree, "fromstring"): watch("xml"),
        (_strptime, "_strptime_time"): watch("strptime", lambda args: args[1] if args[1:] else None),
        (shlex, "split"): watch("words", mark_result=_parsed("words")),
        (builtins, "open"): watch("path", "open"),
        (csv, "reader"): watch_reading,
        (re, "compile"): _watch_compiling,
    }
    # What `strptime` of dates calls: one function up to Python 3.13, then one for each class.
    dates = [name for name in vars(_strptime) if name.startswith("_strptime_datetime")]
    watches |= {(_strptime, name): watch("strptime", lambda args: args[2], at=1) for name in dates}
    watches |= {(re, name): _watch_matching(name) for name in _MATCHING}
    watches |= {(os.path, name): watch("path", name) for name in _PATHS}
    watches |= {(os.path, name): watch("path", name, _parsed(name)) for name in _PATH_PARTS}
    watches[os.path, "join"] = _watch_paths("join")
    for name in ("split", "splitext"):
        watches[os.path, name] = watch("path", name, _path_parts(f"path {name}"))
    return {(owner, name): around(getattr(owner, name)) for (owner, name), around in watches.items()}


# Methods of classes written in Python: replacing them in the class is enough.
METHODS: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (json.JSONDecoder, "decode", watch("json", mark_result=_parsed("json"), at=1)),
    (csv.DictReader, "__next__", watch_objects),
    (csv.DictReader, "fieldnames", watch_names),
    (uuid.UUID, "__init__", watch("uuid", at=1)),
    (fractions.Fraction, "__new__", _making(watch("Fraction", at=1))),
    (pathlib.PurePath, "__new__", _making(_watch_paths("Path"))),
    (pathlib.Path, "__new__", _making(_watch_paths("Path"))),
]


LISTENER = 4  # a monitoring tool id that Python reserves for no purpose

_CONVERSIONS: dict[int, tuple[str, Callable[[Any], Any]]] = {
    id(convert): (convert.__name__, convert) for convert in (int, float, Decimal, range)
}


def listen() -> Callable[[], None] | None:
    """Start observing conversions such as `int(...)`, and return a function that stops it.

    None if the id is taken, or before Python 3.12: then only failed conversions are noticed, by their error
    message.
    """
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or monitoring.get_tool(LISTENER) is not None:
        return None
    call = monitoring.events.CALL
    monitoring.use_tool_id(LISTENER, "misstep: marked values")
    monitoring.register_callback(LISTENER, call, _heard)
    monitoring.set_events(LISTENER, call)

    def stop() -> None:
        monitoring.set_events(LISTENER, 0)
        monitoring.register_callback(LISTENER, call, None)
        monitoring.free_tool_id(LISTENER)

    return stop


def _heard(_code: CodeType, _offset: int, called: object, argument: object) -> None:
    known = _CONVERSIONS.get(id(called))
    origin = origin_of(argument) if known else None
    if known and origin and not origin.record.closed:
        name, convert = known
        try:
            convert(plain(argument))
            works = True
        except (ValueError, TypeError, OverflowError, ArithmeticError):
            works = False
        origin.note(name, None, works)


DEEPEST = 20


def pydantic_methods() -> Iterator[tuple[Any, str, Watch]]:
    """The methods of pydantic to watch, if it is loaded.

    Most frameworks validate a tool's arguments with a pydantic model, which does not treat subclasses of
    `str` like `str`; so it gets plain values, and its results are marked again.
    """
    pydantic = sys.modules.get("pydantic")
    model = getattr(pydantic, "BaseModel", None)
    if model is None or "model_validate" not in vars(model):
        return
    yield model, "__init__", _watch_making
    yield model, "model_validate", _watch_validating
    adapter = getattr(pydantic, "TypeAdapter", None)
    if adapter is not None and "validate_python" in vars(adapter):
        yield adapter, "validate_python", _watch_adapting


def _watch_making(original: Any) -> Any:
    def __init__(self: Any, /, **data: Any) -> None:
        original(self, **plain(data))
        marked_again(data, self)

    vars(__init__).update(vars(original))
    return __init__


def _watch_validating(original: Any) -> Any:
    def model_validate(cls: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        return marked_again(obj, original.__func__(cls, plain(obj), *args, **kwargs))

    return classmethod(model_validate)


def _watch_adapting(original: Any) -> Any:
    def validate_python(self: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        return marked_again(obj, original(self, plain(obj), *args, **kwargs))

    return validate_python


def marked_again(given: Any, made: Any, depth: int = DEEPEST) -> Any:
    """The result of validating `given`, with the same marks. Models are marked in place."""
    if depth == 0 or origin_of(made):
        return made
    fields = getattr(type(made), "model_fields", None)
    if isinstance(fields, dict) and isinstance(given, dict):
        _mark_fields(given, made, fields, depth - 1)
        return made
    if type(made) is dict and isinstance(given, dict):
        items = {key: marked_again(dict.get(given, key), item, depth - 1) for key, item in made.items()}
        return _dressed(given, made, items)
    if type(made) is list and isinstance(given, list) and list.__len__(given) == len(made):
        pairs = zip(list.__iter__(given), made, strict=True)
        return _dressed(given, made, [marked_again(one, other, depth - 1) for one, other in pairs])
    return _dressed(given, made, made)


def _dressed(given: Any, made: Any, items: Any) -> Any:
    origin = origin_of(given)
    if origin is None or type(made) not in (str, int, float, list, dict):
        return items
    bare = plain(given)
    same = type(bare) is type(made) and bare == made
    return mark(made, origin if same else origin.step("changed"))


def _mark_fields(given: Any, made: Any, fields: dict[str, Any], depth: int) -> None:
    attributes = getattr(made, "__dict__", {})
    for name, field in fields.items():
        for key in (name, getattr(field, "alias", None)):
            if name in attributes and isinstance(key, str) and dict.__contains__(given, key):
                attributes[name] = marked_again(dict.get(given, key), attributes[name], depth)
