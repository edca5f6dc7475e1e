"""What a model may have been trained on, in the words of the setting `part`."""

from typing import Literal, TypeAlias, get_args

Aspect: TypeAlias = Literal["topics", "words", "structures"]
Portion: TypeAlias = Literal["train", "topics", "words", "structures"]

ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
PORTIONS: tuple[Portion, ...] = get_args(Portion)
