"""Random JSON schemas such as tools have, and values that nearly fit them."""

from typing import Any

from hypothesis import strategies as st

NAMES = ["city", "days", "tags", "unit", "x"]
WORDS = ["", "a", "ab", "oslo", "Oslo 1", "12", "é", "a-b"]
PATTERNS = ["^[a-z]+$", r"\d", "^.{2,4}$", "o", "^(a|b)-?b?$"]

numbers = st.one_of(st.integers(-4, 4), st.sampled_from([0.5, 1.0, 2.5, -3.0]))
scalars = st.one_of(st.none(), st.booleans(), numbers, st.sampled_from(WORDS))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
counts = st.integers(0, 3)
TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]


def some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of these keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


def lists_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(inner, min_size=1, max_size=3)


number_schemas = some(
    type=st.sampled_from(["integer", "number"]),
    minimum=numbers,
    maximum=numbers,
    exclusiveMinimum=numbers,
    exclusiveMaximum=numbers,
    multipleOf=st.sampled_from([1, 2, 3, 0.5, 2.5]),
)
text_schemas = some(
    type=st.just("string"), minLength=counts, maxLength=counts, pattern=st.sampled_from(PATTERNS)
)
list_schemas = some(
    items=number_schemas,
    prefixItems=lists_of(number_schemas),
    minItems=counts,
    maxItems=counts,
    uniqueItems=st.booleans(),
)
leaves: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    some(type=st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)),
    some(enum=st.lists(values, min_size=1, max_size=3)),
    some(const=values),
    number_schemas,
    text_schemas,
    st.sampled_from([{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]),
)


def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        some(
            type=st.just("object"),
            properties=st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
            required=st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            additionalProperties=inner,
            patternProperties=st.dictionaries(st.sampled_from(["^c", "s$"]), inner, max_size=1),
            minProperties=counts,
            maxProperties=counts,
        ),
        some(
            type=st.just("array"),
            items=inner,
            prefixItems=lists_of(inner),
            minItems=counts,
            maxItems=counts,
            uniqueItems=st.booleans(),
        ),
        some(anyOf=lists_of(inner), oneOf=lists_of(inner), allOf=lists_of(inner)),
        some(**{"not": inner, "type": st.sampled_from(TYPES)}),
    )


parts = st.recursive(leaves, wider, max_leaves=8)
grounded = st.recursive(leaves.filter(lambda leaf: "$ref" not in str(leaf)), wider, max_leaves=3).filter(
    lambda part: "$ref" not in str(part)
)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """An object schema with definitions, which refer to nothing themselves."""
    properties = draw(st.dictionaries(st.sampled_from(NAMES), parts, min_size=1, max_size=4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": draw(st.lists(st.sampled_from(sorted(properties)), unique=True)),
        "$defs": {"a": draw(grounded), "b": draw(grounded)},
    }
    return schema | draw(some(additionalProperties=st.booleans()))
