"""Holds the model to the form of a reply: grammars in llama.cpp's notation, from JSON schemas."""

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from misstep.core.agent import Tool
from misstep.core.references import find_reference
from misstep.core.transcript import storable
from misstep.models.local.patterns import pattern_rule

MOST_REPEATS = 200  # larger bounds are left open: they make a grammar slow
MOST_NUMBERS = 100  # ranges up to this size are listed
LONGEST = 200  # characters of an answer, or of a text in a form: a small model finds no end by itself
MOST_PARTS = 10  # of a list or an object in a form that sets no bounds

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
_PRIMITIVES = ("string", "integer", "number", "boolean", "null")


def call_head(name: str) -> str:
    """How a call of a tool begins, up to its arguments; it ends with a closing brace."""
    return f'{{"tool": {_json(name)}, "arguments": '


def answer_head() -> str:
    """How an answer begins, up to its text; it ends with a closing brace."""
    return '{"answer": '


def reply_grammar(tools: Sequence[Tool]) -> str:
    """Accepts one call of one of the tools, or an answer that is not too long."""
    rules = _Rules()
    calls = [f'{_literal(call_head(tool.name))} {rules.arguments(tool.parameters)} "}}"' for tool in tools]
    answer = f'{_literal(answer_head())} {_string({"maxLength": LONGEST})} "}}"'
    return rules.grammar([*calls, answer], _OPEN)


def form_grammar(schema: Any) -> str:
    """Accepts what satisfies the schema, its texts and lists cut short."""
    rules = _Rules()
    return rules.grammar([rules.arguments(schema)], _SHORT)


class _Rules:
    """Translates schemas to the right-hand sides of rules, each standing for compact JSON.

    Every text accepted is JSON. Formats, bounds on large numbers, lengths beside patterns, odd patterns and
    combinations of schemas are left open, and a schema that makes no sense accepts anything: whoever asks has
    to check what comes.
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
        return self._value({"type": "object", "additionalProperties": False, **_mapping(schema)})

    def _value(self, schema: Any) -> str:
        schema = _mapping(schema)
        if "const" in schema:
            return _literal(_json(schema["const"]))
        if listed := _listed(schema.get("enum")):
            return _either([_literal(_json(option)) for option in listed])
        if isinstance(reference := schema.get("$ref"), str):
            return self._reference(reference)
        for union in ("anyOf", "oneOf", "allOf"):
            options = _listed(schema.get(union))
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
        """A rule of its own, so that a schema may contain itself; but it can't be itself."""
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
        """The rule for a part of an object or array."""
        outer, self._unopened = self._unopened, frozenset()
        rule = self._value(schema)
        self._unopened = outer
        return rule

    def _object(self, schema: dict[str, Any]) -> str:
        declared = _mapping(schema.get("properties"))
        required = [name for name in _listed(schema.get("required")) if isinstance(name, str)]
        properties = declared | {name: True for name in required if name not in declared}
        if not properties:
            return self._dictionary(schema.get("additionalProperties"))
        # Pairs are mentioned more than once where some may be missing.
        pairs = [self._name(f"{_literal(_json(n) + ': ')} {self._inside(v)}") for n, v in properties.items()]
        return f'"{{" {_sequence(pairs, [name in required for name in properties])} "}}"'

    def _dictionary(self, values: Any) -> str:
        """An object with names of the model's choice, unless the schema says that it is an empty one."""
        if values is False:
            return '"{}"'
        pair = f'string ": " {self._inside(values)}'
        return f'"{{" ({pair} (", " {pair})*)? "}}"'

    def _array(self, schema: dict[str, Any]) -> str:
        if fixed := _listed(schema.get("prefixItems")):
            return f'"[" {_joined([self._inside(item) for item in fixed])} "]"'
        item = self._inside(schema.get("items"))
        least, most = _bounds(schema, "minItems", "maxItems")
        if most == 0:
            return '"[]"'
        more = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
        items = f'{item} (", " {item}){more}'
        return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'


def _both(schema: dict[str, Any], option: Any) -> Any:
    """A schema that says what both of them do, as far as one can; a reference stands alone."""
    if not isinstance(option, dict) or "$ref" in option:
        return option
    properties = {**_mapping(schema.get("properties")), **_mapping(option.get("properties"))}
    required = [*_listed(schema.get("required")), *_listed(option.get("required"))]
    return {**schema, **option, **({"properties": properties, "required": required} if properties else {})}


def _sequence(pairs: Sequence[str], required: Sequence[bool]) -> str:
    """The pairs in their order, with commas between those that are there."""
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


def _joined(items: Sequence[str]) -> str:
    return ' ", " '.join(items)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(value: Any) -> str:
    return storable(json.dumps(value, ensure_ascii=False))


def _literal(text: str) -> str:
    """A text in quotation marks, as the notation wants it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join([char if char.isprintable() else _escape(char) for char in escaped]) + '"'


def _escape(char: str) -> str:
    return f"\\x{ord(char):02X}" if ord(char) < 0x80 else f"\\U{ord(char):08X}"
