"""Grammars in llama.cpp's notation that make the model's replies fit JSON schemas, with their patterns."""

import json
import re
import warnings
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from misstep.core.agent import Tool
from misstep.core.outcome import storable
from misstep.schemas.shape import as_list, find_reference, mapping, names_in

MOST = 60  # maximum repetitions of a part without a limit of its own
_NEVER = r'"\\\x00-\x1F\x7F'  # characters that JSON strings contain only escaped, for use inside brackets
_CATEGORIES = {"CATEGORY_DIGIT": "0-9", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a-zA-Z0-9_"}


def pattern_rule(pattern: Any) -> str | None:
    """The right-hand side of a rule for quoted strings that match the pattern; None if unsupported.

    It may accept less than the pattern: no quotes inside, no unlimited repetition.
    """
    parser = getattr(re, "_parser", None)  # a private API: without it no pattern is supported
    if not isinstance(pattern, str) or parser is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = list(parser.parse(pattern))
        begins, ends = _is_at(parts[:1], "BEGINNING"), _is_at(parts[-1:], "END")
        inside = _all(parts[begins : len(parts) - ends])
    except (re.error, LookupError, OverflowError, RecursionError, ValueError):
        return None
    anything = f"char{{0,{MOST}}}"
    return rf'"\"" {"" if begins else anything} {inside} {"" if ends else anything} "\""'


def _is_at(parts: Sequence[Any], place: str) -> bool:
    return any(str(name) == "AT" and place in str(argument) for name, argument in parts)


def _all(parts: Sequence[Any]) -> str:
    return " ".join([_rule(str(name), argument) for name, argument in parts]) or '""'


def _rule(name: str, argument: Any) -> str:
    """The rule for one part of a parsed pattern; raises ValueError if there is none."""
    match name:
        case "LITERAL":
            return f"[{_character(argument)}]"
        case "NOT_LITERAL":
            return f"[^{_character(argument)}{_NEVER}]"
        case "ANY":
            return f"[^{_NEVER}]"
        case "IN":
            return _one_of(argument)
        case "BRANCH":
            return f"({' | '.join(map(_all, argument[1]))})"
        case "MAX_REPEAT" | "MIN_REPEAT" if argument[0] <= MOST:
            least, most, parts = argument
            return f"({_all(parts)}){{{least},{min(int(most), MOST)}}}"
        case "SUBPATTERN" if not argument[1] and not argument[2]:  # without flags of its own
            return f"({_all(argument[3])})"
    raise ValueError(name)


def _one_of(members: Any) -> str:
    if str(members[0][0]) != "NEGATE":
        return f"[{_members(members)}]"
    if any(str(name) == "CATEGORY" for name, _ in members):
        raise ValueError("all but a category, of which only a part is known")
    return f"[^{_members(members[1:])}{_NEVER}]"


def _members(members: Any) -> str:
    written = list[str]()
    for name, argument in members:
        match str(name):
            case "LITERAL":
                written.append(_character(argument))
            case "RANGE":
                written.append(f"{_character(argument[0])}-{_character(argument[1])}")
            case "CATEGORY":
                written.append(_CATEGORIES[str(argument)])
            case other:
                raise ValueError(other)
    return "".join(written)


def _character(code: int) -> str:
    """A character as a numeric escape, so that it has no special meaning."""
    if code < 0x20 or code == 0x7F or chr(code) in '"\\' or 0xD800 <= code < 0xE000:
        raise ValueError("not in a text of JSON as it is")
    return f"\\U{code:08X}"


MOST_REPEATS = 200  # larger limits are ignored: they make a grammar slow
MOST_NUMBERS = 100  # ranges up to this size are enumerated
LONGEST = 200  # characters of an answer, or of a text in a form: a small model does not stop by itself
MOST_PARTS = 10  # items of a list or object in a form without limits

_JSON = r"""
char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
value ::= string | number | boolean | null | array | object
"""
_OPEN = r"""
string ::= "\"" char* "\""
array ::= "[" (value (", " value)*)? "]"
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
"""
_SHORT = rf"""
string ::= "\"" char{{0,{LONGEST}}} "\""
array ::= "[" (value (", " value){{0,{MOST_PARTS - 1}}})? "]"
object ::= "{{" (string ": " value (", " string ": " value){{0,{MOST_PARTS - 1}}})? "}}"
"""
ANSWER_HEAD = '{"answer": '  # the beginning of an answer, up to its text; it ends with a closing brace
_PRIMITIVES = ("string", "integer", "number", "boolean", "null")


def call_head(name: str) -> str:
    """The beginning of a tool call, up to its arguments; a call ends with a closing brace."""
    return f'{{"tool": {_json(name)}, "arguments": '


def reply_grammar(tools: Sequence[Tool]) -> str:
    """A grammar for one call of one of the tools, or an answer of limited length."""
    rules = _Rules()
    calls = [f'{_literal(call_head(tool.name))} {rules.arguments(tool.parameters)} "}}"' for tool in tools]
    answer = f'{_literal(ANSWER_HEAD)} {_string({"maxLength": LONGEST})} "}}"'
    return rules.grammar([*calls, answer], _OPEN)


def form_grammar(schema: Any) -> str:
    """A grammar for values of the schema, with limited texts and lists."""
    rules = _Rules()
    return rules.grammar([rules.arguments(schema)], _SHORT)


class _Rules:
    """Translates schemas to the right-hand sides of rules that describe compact JSON.

    Every accepted text is JSON. Formats, limits on large numbers, lengths beside patterns, unusual patterns
    and combinations of schemas are not enforced, and an invalid schema accepts anything: the caller has to
    check the result.
    """

    def __init__(self) -> None:
        self.named = dict[str, str]()

    def grammar(self, roots: Sequence[str], lengths: str) -> str:
        named = [f"{name} ::= {rule}" for name, rule in self.named.items()]
        return "\n".join([f"root ::= {' | '.join(roots)}", *named, lengths, _JSON])

    def arguments(self, schema: Any) -> str:
        self._root = schema
        self._references = dict[str, str]()
        self._unopened = frozenset[str]()
        return self._value({"type": "object", "additionalProperties": False, **mapping(schema)})

    def _value(self, schema: Any) -> str:
        schema = mapping(schema)
        if "const" in schema:
            return _literal(_json(schema["const"]))
        if listed := as_list(schema.get("enum")):
            return _either([_literal(_json(option)) for option in listed])
        if isinstance(reference := schema.get("$ref"), str):
            return self._reference(reference)
        for union in ("anyOf", "oneOf", "allOf"):
            options = as_list(schema.get(union))
            if options and (union != "allOf" or len(options) == 1):
                beside = {name: part for name, part in schema.items() if name != union}
                return _either([self._value(_both(beside, option)) for option in options])
        return self._typed(schema, schema.get("type", "object" if "properties" in schema else None))

    def _typed(self, schema: dict[str, Any], kind: Any) -> str:
        match kind:
            case list() if kind:
                return _either([self._typed(schema, each) for each in kind])
            case "object":
                return self._object(schema)
            case "array":
                return self._array(schema)
            case "string":
                return _string(schema)
            case "integer":
                return _integer(schema)
            case str() if kind in _PRIMITIVES:
                return kind
        return "value"

    def _reference(self, reference: str) -> str:
        """A named rule, so that a schema may contain itself; but it can't be defined as itself."""
        if reference in self._unopened:
            return "value"
        if reference not in self._references:
            name = self._references[reference] = self._name("")
            outer, self._unopened = self._unopened, self._unopened | {reference}
            self.named[name] = self._value(find_reference(reference, self._root))
            self._unopened = outer
        return self._references[reference]

    def _name(self, rule: str) -> str:
        name = f"rule-{len(self.named)}"
        self.named[name] = rule
        return name

    def _inside(self, schema: Any) -> str:
        outer, self._unopened = self._unopened, frozenset()
        rule = self._value(schema)
        self._unopened = outer
        return rule

    def _object(self, schema: dict[str, Any]) -> str:
        declared = mapping(schema.get("properties"))
        required = names_in(schema.get("required"))
        properties = declared | {name: True for name in required if name not in declared}
        if not properties:  # the model chooses the names, if the schema allows any
            values = schema.get("additionalProperties")
            if values is False:
                return '"{}"'
            pair = f'string ": " {self._inside(values)}'
            return f'"{{" ({pair} (", " {pair})*)? "}}"'
        # Pairs are used more than once if some are optional.
        pairs = [self._name(f"{_literal(_json(n) + ': ')} {self._inside(v)}") for n, v in properties.items()]
        return f'"{{" {_sequence(pairs, [name in required for name in properties])} "}}"'

    def _array(self, schema: dict[str, Any]) -> str:
        if fixed := as_list(schema.get("prefixItems")):
            items = ' ", " '.join([self._inside(item) for item in fixed])
            return f'"[" {items} "]"'
        item = self._inside(schema.get("items"))
        least, most = _bounds(schema, "minItems", "maxItems")
        if most == 0:
            return '"[]"'
        more = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
        items = f'{item} (", " {item}){more}'
        return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'


def _both(schema: dict[str, Any], option: Any) -> Any:
    """A schema that combines both, as far as possible; a reference replaces the first."""
    if not isinstance(option, dict) or "$ref" in option:
        return option
    properties = {**mapping(schema.get("properties")), **mapping(option.get("properties"))}
    required = [*as_list(schema.get("required")), *as_list(option.get("required"))]
    return {**schema, **option, **({"properties": properties, "required": required} if properties else {})}


def _sequence(pairs: Sequence[str], required: Sequence[bool]) -> str:
    tail = [
        f'", " {pair}' if needed else f'(", " {pair})?' for pair, needed in zip(pairs, required, strict=True)
    ]
    starts = len(list(takewhile(lambda needed: not needed, required)))
    firsts = [" ".join([pairs[i], *tail[i + 1 :]]) for i in range(min(starts + 1, len(pairs)))]
    return _either(firsts) if any(required) else f"{_either(firsts)}?"


def _string(schema: dict[str, Any]) -> str:
    if rule := pattern_rule(schema.get("pattern")):
        return rule
    least, most = _bounds(schema, "minLength", "maxLength")
    if not least and most is None:
        return "string"
    return rf'"\"" char{{{least},{"" if most is None else most}}} "\""'


def _integer(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, int) and isinstance(high, int) and 0 <= high - low < MOST_NUMBERS:
        return _either([_literal(str(number)) for number in range(low, high + 1)])
    return "integer"


def _bounds(schema: dict[str, Any], least: str, most: str) -> tuple[int, int | None]:
    low, high = schema.get(least), schema.get(most)
    low = low if isinstance(low, int) and 0 < low <= MOST_REPEATS else 0
    return low, high if isinstance(high, int) and low <= high <= MOST_REPEATS else None


def _either(options: Sequence[str]) -> str:
    return f"({' | '.join(options)})"


def _json(value: Any) -> str:
    return storable(json.dumps(value, ensure_ascii=False))


def _literal(text: str) -> str:
    """A text as a quoted literal in the grammar's notation."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    codes = [char if char.isprintable() else f"\\U{ord(char):08X}" for char in escaped]
    return f'"{"".join(codes)}"'
