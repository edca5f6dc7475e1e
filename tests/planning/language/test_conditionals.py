"""A condition can be said before or after what depends on it, and means the same."""

import pytest

from misstep.core.constraint import Condition
from misstep.core.rng import Dice
from misstep.planning.language.reader import read
from misstep.planning.language.rendering import render
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.skeletons import read_skeleton
from misstep.planning.language.syntax import (
    CONDITIONAL_FORMS,
    Conditional,
    ConditionalForm,
    Sentence,
    skeleton,
)

NAMES = ("stock count", "till check", "safe opening")
IDS = ("a1", "a2", "a3")


@pytest.mark.parametrize("otherwise", [None, 2])
@pytest.mark.parametrize("form", CONDITIONAL_FORMS)
def test_conditions_are_read_as_they_were_meant(form: ConditionalForm, otherwise: int | None) -> None:
    sentence = Sentence((Conditional(0, "a problem", 1, otherwise, form),))
    demanded = Condition(NAMES[0], "a problem", NAMES[1], NAMES[2] if otherwise else "")
    for seed in range(300):
        (text,) = render((sentence,), NAMES, Dice(seed))
        (reading,) = read(text, NAMES)
        assert reading.demands == (demanded,), text
        named = sorted(NAMES[:2], key=lambda name: text.lower().index(f"the {name}"))
        assert (named[0] == NAMES[0]) == (form == "asks first"), text


@pytest.mark.parametrize("otherwise", [None, 2])
@pytest.mark.parametrize("form", CONDITIONAL_FORMS)
def test_skeletons_tell_the_forms_apart(form: ConditionalForm, otherwise: int | None) -> None:
    paragraph = (Sentence((Conditional(0, "a problem", 1, otherwise, form),)),)
    assert read_skeleton(skeleton(paragraph), constraints_of(paragraph[0], IDS, 0)) == paragraph
