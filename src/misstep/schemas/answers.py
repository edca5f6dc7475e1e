"""JSON schemas for the answers of models, in the form that strict structured output needs."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

Schema: TypeAlias = dict[str, Any]

# Maximum length of a text: servers that compile schemas to grammars refuse limits of several thousand, and
# without a limit a small model never ends a text.
LONGEST = 1_000

_WITHIN = ("items",)
_LISTS = ("anyOf", "prefixItems")
_NAMED = ("properties", "$defs")
_DROPPED = ("title", "default", "discriminator")
_BOUNDED = ("pattern", "enum", "const", "format")  # a text with one of these needs no length limit


def seal(schema: Schema) -> Schema:
    """The schema with every property required, no others allowed, and a maximum length for every text."""
    kept = _mapped({key: part for key, part in schema.items() if key not in _DROPPED}, seal)
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    if "string" in _types(kept) and not any(key in kept for key in _BOUNDED):
        kept["maxLength"] = min(kept.get("maxLength", LONGEST), LONGEST)
    return kept


def is_strict(schema: Schema) -> bool:
    """Whether strict mode accepts a schema: every object lists all its properties and requires each."""
    if "object" in _types(schema):
        named = schema.get("properties")
        if named is None or schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(named):
            return False
    return all(is_strict(part) for part in _parts(schema))


def without_lengths(schema: Schema) -> Schema:
    """The schema without text length limits, which OpenAI's strict mode does not document."""
    kept = {key: part for key, part in schema.items() if key not in ("minLength", "maxLength")}
    return _mapped(kept, without_lengths)


def _mapped(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """The schema with a function applied to every direct subschema."""
    made = dict(schema)
    made |= {key: change(made[key]) for key in _WITHIN if isinstance(made.get(key), dict)}
    made |= {key: [change(each) for each in made[key]] for key in _LISTS if key in made}
    return made | {
        key: {name: change(each) for name, each in made[key].items()} for key in _NAMED if key in made
    }


def _types(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _parts(schema: Schema) -> Iterable[Schema]:
    yield from (schema[key] for key in _WITHIN if isinstance(schema.get(key), dict))
    for key in _LISTS:
        yield from schema.get(key, ())
    for key in _NAMED:
        yield from schema.get(key, {}).values()


MOST_TEXT = 100_000  # characters of an answer
SHOWN = 500  # characters of the error message

_FILLER = re.compile(r'"([A-Z]+(?: [A-Z]+)*)"')
_THOUGHTS_END = re.compile("</think(?:ing)?>")

T = TypeVar("T")
U = TypeVar("U")


class FormatError(msgspec.Struct, frozen=True):
    """What is wrong with an answer, as a message to the model.

    `rest` is the usable part of the answer, for when no better one can be had.
    """

    text: str
    rest: Any = None


class AnswerSchema(msgspec.Struct, Generic[T], frozen=True):
    """The format of an answer: a JSON schema, and a function that reads it.

    The schema is for servers that enforce one, strictly if they can. `read` may check more than the schema
    says, and accepts answers without fields that have a default.
    """

    schema: dict[str, Any]
    read: Callable[[str], T | FormatError]

    def then(self, make: Callable[[T], U | FormatError]) -> "AnswerSchema[U]":
        """The same schema, with `make` applied to the parsed answer."""

        def read(text: str) -> U | FormatError:
            found = self.read(text)
            return FormatError(found.text) if isinstance(found, FormatError) else make(found)

        return AnswerSchema(self.schema, read)


def form_of(filled: type[T], **narrower: dict[str, Any]) -> AnswerSchema[T]:
    """The answer schema of a struct; some fields may be given a narrower schema than their types."""
    schema = schema_of(filled)
    narrowed = {**schema, "properties": schema["properties"] | narrower}
    return AnswerSchema(seal(narrowed), lambda text: read_form(text, filled))


def texts(least: int, most: int, pattern: str = "") -> dict[str, Any]:
    """The schema of a list of strings."""
    text = {"type": "string", **({"pattern": pattern} if pattern else {})}
    return {"type": "array", "items": text, "minItems": least, "maxItems": most}


def schema_of(filled: type[T]) -> dict[str, Any]:
    """The schema of a struct, with the object itself at the top: servers don't accept a reference there."""
    (schema,), definitions = msgspec.json.schema_components([filled], ref_template="#/$defs/{name}")
    top = definitions.pop(schema["$ref"].rpartition("/")[2])
    return {**top, **({"$defs": definitions} if definitions else {})}


def find_copied(question: str, answer: str) -> FormatError | None:
    """Detect an answer that leaves placeholders from the end of the question in place.

    They are in capitals and quotes there, as in {"name": "NAME"}.
    """
    fillers = _FILLER.findall(question.rstrip().rpartition("\n")[2])
    left = [filler for filler in fillers if f'"{filler}"' in answer]
    return FormatError(f"Replace the placeholder '{left[0]}' with your own text.") if left else None


def read_form(text: str, form: type[T]) -> T | FormatError:
    """Decode the JSON object in an answer, which may be surrounded by other text."""
    if len(text) > MOST_TEXT:
        return FormatError(f"The answer has {len(text):,} characters; at most {MOST_TEXT:,} are read.")
    said = _THOUGHTS_END.split(text)[-1]
    begin, end = said.find("{"), said.rfind("}")
    if begin < 0 or end < begin:
        return FormatError("There is no JSON object in the answer.")
    filled = said[begin : end + 1].encode("utf-8", "replace")
    try:
        return msgspec.json.decode(filled, type=form)
    except msgspec.ValidationError as error:
        return FormatError(f"The JSON object does not have the requested form: {str(error)[:SHOWN]}.")
    except (msgspec.DecodeError, RecursionError) as error:
        return FormatError(f"The answer is not valid JSON: {str(error)[:SHOWN]}.")
