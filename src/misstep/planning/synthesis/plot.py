"""A problem under construction: its sentences so far and its world; also the values that tools return."""

from collections.abc import Sequence

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Before, Constraint
from misstep.core.rng import Dice
from misstep.planning.language.clarity import MANY
from misstep.planning.language.lexicon import Value
from misstep.planning.language.parts import is_of
from misstep.planning.language.semantics import paragraph_constraints, relations
from misstep.planning.language.syntax import Giving, Remark, Sentence
from misstep.planning.plans.demands import selections
from misstep.planning.plans.order import Order, bits
from misstep.planning.plans.search import Survey, possible_worlds, survey
from misstep.planning.synthesis.paragraphs import Recipe

IDS = tuple(f"a{number}" for number in range(1, 21))
UNSAID = "…"  # placeholder for an announcement that has no text yet


class Plot:
    """A problem that families add to, each taking into account what is there.

    `cast` is how many actions may be used freely: those with higher numbers are stand-ins. `order` has
    everything that must come before something else. `open` masks actions that may not be due, `fixed` those
    whose position is restricted by more than order: no action is both, or a faultless agent could get stuck.
    `sure` masks those that others depend on, which have to stay due, `repeated` those that are due more than
    once. `is_alone` if there is only one family to make the problem hard.
    """

    def __init__(self, size: int, recipe: Recipe, dice: Dice, is_alone: bool = False) -> None:
        self.size = self.cast = size
        self.is_alone = is_alone
        self.recipe = recipe
        self.dice = dice
        self.order = Order(size)
        self.sentences: list[Sentence] = []
        self.redundant: list[Sentence] = []  # those that deliberately repeat something
        self.announcements: dict[int, Sentence] = {}  # what the results of actions add to the request
        self.open = self.fixed = self.sure = self.repeated = self.mentioned = 0
        self.world = World()

    def draw(self, count: int, avoid: int = 0) -> list[int] | None:
        """This many different actions, except those to avoid; None if there are too few."""
        left = [action for action in range(self.cast) if not avoid >> action & 1]
        return self.dice.sample(left, count) if len(left) >= count else None

    def say(self, remark: Remark, *actions: int) -> None:
        """Add a sentence about these actions."""
        self.sentences.append(Sentence((remark,)))
        self.mention(actions)

    def phrases(self, all_of_a_kind: list[str]) -> list[str]:
        """Those on the allowed side of the lexicon."""
        side = self.recipe.words
        return [phrase for phrase in all_of_a_kind if is_of(phrase, side)] if side else all_of_a_kind

    def mention(self, actions: Sequence[int]) -> None:
        for action in actions:
            self.mentioned |= 1 << action

    def change(self, **parts: object) -> None:
        """Change the world."""
        self.world = msgspec.structs.replace(self.world, **parts)

    @property
    def room(self) -> int:
        """How many more sentences are allowed, not counting those that give arguments."""
        given = sum(isinstance(sentence.parts[0], Giving) for sentence in self.sentences)
        return (self.recipe.sentences or MANY) - len(self.sentences) + given

    @property
    def usual_room(self) -> int:
        """How many more sentences there should be if no maximum is set."""
        return self.room if self.recipe.sentences else self.size - 1 - len(self.sentences)

    @property
    def unmentioned(self) -> list[int]:
        return list(bits((1 << self.size) - 1 & ~self.mentioned))

    def constraints(self) -> list[Constraint]:
        announced = [
            Before(IDS[first], IDS[then], announced=IDS[voice])
            for voice, sentence in self.announcements.items()
            for first, then in relations(sentence)
        ]
        return paragraph_constraints(self.sentences, IDS) + announced

    def apart(self) -> list[int]:
        """For each action the mask of those that are never executed together with it."""
        everything = (1 << self.size) - 1
        apart = [everything & ~(1 << action) for action in range(self.size)]
        constraints = self.constraints()
        for world in possible_worlds(constraints, self.world):
            for demands in selections(IDS[: self.size], constraints, world):
                together = sum(1 << action for action in range(self.size) if IDS[action] in demands.roles)
                for action in bits(together):
                    apart[action] &= ~together
        return apart

    def survey(self) -> Survey:
        return survey(IDS[: self.size], self.constraints(), self.world)


MOST = 12  # executions after which values repeat: more than any problem asks for
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
FIRST_NAMES = ("Amira", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hanna", "Ivo", "Jarmila", "Kofi")
LAST_NAMES = ("Abara", "Bergström", "Castillo", "Dvorak", "Ekwall", "Fontaine", "Grigoriou", "Hartmann")


def draw_values(value: Value, dice: Dice) -> tuple[str | int, ...]:
    """Different values of one kind, one for each execution of an action."""
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
