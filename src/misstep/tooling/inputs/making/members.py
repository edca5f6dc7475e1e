"""What a schema says of the members of an object."""

from collections.abc import Mapping
from typing import Any

from misstep.schemas.patterns import matches
from misstep.schemas.shape import count, mapping, names_in


class Members:
    """The names that a schema knows, and the schemas of whatever a name stands for.

    `are_open` if it is about members that it has no names for.
    """

    def __init__(self, schema: Mapping[str, Any], most: int) -> None:
        self.properties = mapping(schema.get("properties"))
        self.patterns = mapping(schema.get("patternProperties"))
        self.required = names_in(schema.get("required"))
        self.least = count(schema, "minProperties", 0)
        self.most = min(count(schema, "maxProperties", most), most)
        self._rest = schema.get("additionalProperties")
        is_map = self._rest is True or isinstance(self._rest, Mapping)
        self.are_open = is_map or not self.properties or bool(self.patterns)

    def schema_of(self, name: str) -> Any:
        """All that is asked of the member of this name; False where there must be none."""
        demands = [wanted for pattern, wanted in self.patterns.items() if matches(pattern, name)]
        own = self.properties.get(name, True if self._rest is None or demands else self._rest)
        return {"allOf": [own, *demands]} if demands and own is not False else own
