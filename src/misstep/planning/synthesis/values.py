"""Values that tools return and others have to be given."""

from misstep.core.dice import Dice
from misstep.planning.language.lexicon import Value

MOST = 12  # executions after which nothing new is returned: more than any problem asks for
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
FIRST_NAMES = ("Amira", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hanna", "Ivo", "Jarmila", "Kofi")
LAST_NAMES = ("Abara", "Bergström", "Castillo", "Dvorak", "Ekwall", "Fontaine", "Grigoriou", "Hartmann")


def draw_values(value: Value, dice: Dice) -> tuple[str | int, ...]:
    """Different values of one kind, one for each time that an action is carried out."""
    drawn = dict[str | int, None]()
    while len(drawn) < MOST:
        drawn[_draw(value, dice)] = None
    return tuple(drawn)


def _draw(value: Value, dice: Dice) -> str | int:
    if value.type == "integer":
        return 100 + dice.below(9900)
    if value.noun.endswith("name"):
        return f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}"
    return f"{dice.pick(LETTERS)}{dice.pick(LETTERS)}-{1000 + dice.below(9000)}"
