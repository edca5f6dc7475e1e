"""How each family adds to a problem; time, which needs a schedule, has a module of its own.

Every function adds something, or returns False and leaves the problem unchanged.
"""

from collections.abc import Callable

from misstep.core.constraint import Condition, Family, StandIn
from misstep.planning.language import syntax
from misstep.planning.language.clarity import most_actions
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.syntax import DIRECTIONS, FORMS, Clause, Group, Sentence
from misstep.planning.plans.demands import selections
from misstep.planning.plans.order import Order
from misstep.planning.synthesis.plot import IDS, UNSAID, Plot, draw_values

RETRIES = 3
MOST_REPEATED = 2  # actions that are due more than once
COSTS = tuple(range(10, 105, 5))
MORE_OPTIONS = 3  # tries to find something else for a result or a budget to decide
ENDS = ("first", "last")
ANNOUNCING = 5  # tries to find something for an action to announce
ANNOUNCED = 3  # actions at most that one announcement puts before or after another


def add_stand_in(plot: Plot) -> bool:
    """One action may be out of service, and the one with the highest number stands in for it."""
    by = plot.cast - 1
    if by < 2:
        return False
    plot.cast = by
    action = plot.dice.below(by)
    plot.say(syntax.Replacing(action, by), action, by)
    plot.open |= 1 << action | 1 << by
    if plot.dice.chance(0.75):
        plot.change(broken=(*plot.world.broken, IDS[action]))
    return True


def add_choice(plot: Plot) -> bool:
    """A choice of two, or a branch that a result decides."""
    return add_alternative(plot) if plot.dice.chance(0.4) else add_conditional(plot)


def add_alternative(plot: Plot) -> bool:
    drawn = plot.draw(2, plot.open | plot.fixed | plot.sure)
    if drawn is None or not plot.draw(1, plot.open | 1 << drawn[0] | 1 << drawn[1]):
        return False  # an action that is always due has to be left
    plot.say(syntax.Alternative((drawn[0], drawn[1])), *drawn)
    plot.open |= 1 << drawn[0] | 1 << drawn[1]
    return True


def add_conditional(plot: Plot) -> bool:
    asked = plot.world.findings
    busy = sum(1 << action for action in range(plot.cast) if IDS[action] in asked)
    drawn = plot.draw(1, plot.open | plot.repeated | busy)  # two reports could contradict each other
    if drawn is None:
        return False
    asks = drawn[0]
    bound = plot.open | plot.fixed | plot.sure | 1 << asks | plot.order.before[asks]
    branches = plot.draw(2 if plot.dice.chance(0.4) else 1, bound)
    if branches is None:
        return False
    conditions = load_lexicon().conditions
    if plot.recipe.own_tools:
        findings = [finding.some for finding in conditions.own_findings]
    else:
        findings = plot.phrases([finding.some for finding in conditions.findings])
    finding = plot.dice.pick(findings)
    otherwise = branches[1] if len(branches) > 1 else None
    form = plot.dice.pick(syntax.CONDITIONAL_FORMS)
    plot.say(syntax.Conditional(asks, finding, branches[0], otherwise, form), asks, *branches)
    plot.sure |= 1 << asks
    for branch in branches:
        plot.order.add(asks, branch)
        plot.open |= 1 << branch
    plot.change(findings={**asked, IDS[asks]: plot.dice.chance(0.5)})
    return True


def add_options(plot: Plot) -> bool:
    """Choices for a budget, if there are none yet, and with them branches decided by a result."""
    if any(isinstance(part, syntax.Alternative) for sentence in plot.sentences for part in sentence.parts):
        return True
    done = add_alternative(plot)
    if done and plot.cast > 3 and plot.room > 2:  # the budget and other actions have to be mentioned as well
        any(add_choice(plot) for _ in range(MORE_OPTIONS))
    return done


def add_spending(plot: Plot) -> bool:
    """Add prices and a budget that some choices meet and others don't; it has to be added last.

    A stand-in costs the same as its action, and the budget covers every branch, so that an agent can't be
    caught out by a finding.
    """
    said = plot.constraints()
    costs = {action: plot.dice.pick(COSTS) for action in IDS[: plot.size]}
    costs |= {c.by: costs[c.action] for c in said if isinstance(c, StandIn)}
    plot.change(costs=costs)
    sure = [constraint for constraint in said if not isinstance(constraint, Condition)]
    ways = selections(IDS[: plot.size], sure, plot.world)
    totals = sorted({sum(costs[tool] for tool in demands.tools) for demands in ways})
    if len(totals) < 2:
        return False
    cheap = plot.dice.below(len(totals) - 1)
    gap = (totals[cheap + 1] - totals[cheap]) // 5
    plot.say(syntax.BudgetRemark(totals[cheap] + 5 * plot.dice.below(gap)))
    return True


def add_data(plot: Plot) -> bool:
    """A value that one action returns and another needs."""
    drawn = plot.draw(2, plot.open)
    if drawn is None:
        return False
    giver, taker = drawn
    said = [
        part for sentence in plot.sentences for part in sentence.parts if isinstance(part, syntax.HandOver)
    ]
    values = {value.noun: value for value in load_lexicon().data.values}
    value = values[plot.dice.pick(plot.phrases(list(values)))]
    taken = any(part.taker == taker and part.value == value.noun for part in said)
    if taken or any({part.giver, part.taker} == {giver, taker} for part in said):
        return False
    if not plot.order.add(giver, taker):
        return False
    plot.say(syntax.HandOver(giver, taker, value.noun), giver, taker)
    plot.sure |= 1 << giver | 1 << taker
    parameter = value.noun.replace(" ", "_")
    mine = plot.world.values.get(IDS[giver], {})
    if parameter not in mine:
        mine = {**mine, parameter: draw_values(value, plot.dice)}
        plot.change(values={**plot.world.values, IDS[giver]: mine})
    return True


def add_adjacent(plot: Plot) -> bool:
    """Direct neighbours, or the first or last position of all."""
    if plot.cast > 2 and plot.dice.chance(0.4):
        return _add_end(plot)
    drawn = plot.draw(2, plot.open | plot.fixed)
    if drawn is None:
        return False
    first, then = drawn
    direction = plot.dice.pick(DIRECTIONS)
    subject, object_ = (first, then) if direction == "<" else (then, first)
    remark = syntax.Neighbours(plot.dice.pick(syntax.NEIGHBOUR_FORMS), direction, subject, object_)
    if plot.order.after[then] >> first & 1 or not _say_if_news(plot, remark):
        return False
    plot.order.add(first, then)
    plot.mention(drawn)
    plot.fixed |= 1 << first | 1 << then
    return True


def _add_end(plot: Plot) -> bool:
    drawn = plot.draw(1, plot.open | plot.fixed)
    if drawn is None:
        return False
    action = drawn[0]
    place = plot.dice.pick(ENDS)
    bound = plot.order.before[action] if place == "first" else plot.order.after[action]
    if bound or not _say_if_news(plot, syntax.End(place, action)):  # type: ignore[arg-type]
        return False
    for other in range(plot.cast):
        if other != action:
            plot.order.add(*((action, other) if place == "first" else (other, action)))
    plot.mention(drawn)
    plot.fixed |= 1 << action
    return True


def add_repeat(plot: Plot) -> bool:
    """An action that is due several times, or a limit on how many come before one."""
    drawn = plot.draw(1, plot.open | plot.fixed | plot.sure)
    if drawn is None:
        return False
    action = drawn[0]
    again = plot.cast < 3 or plot.dice.chance(0.5)
    if again and plot.repeated.bit_count() == MOST_REPEATED:
        return False
    if again:
        plot.say(syntax.RepeatRemark(action, 2 + plot.dice.below(2)))
        plot.repeated |= 1 << action
    elif not _say_if_news(plot, syntax.Limited(action, 1 + plot.dice.below(plot.cast - 2))):
        return False
    plot.mention(drawn)
    plot.fixed |= 1 << action
    return True


def _say_if_news(plot: Plot, remark: syntax.Remark) -> bool:
    """Say it if it rules out some plans but not all."""
    before = plot.survey().chance
    plot.say(remark)
    if 0 < plot.survey().chance < before:
        return True
    plot.sentences.pop()
    return False


def add_dynamic(plot: Plot) -> bool:
    """Announcements and tools that fail at first; a stand-in has to be added before everything else."""
    done = plot.cast > 2 and plot.dice.chance(0.8) and add_announcements(plot)
    if not done or plot.dice.chance(0.4):
        done = add_failures(plot) or done
    return done


def add_announcements(plot: Plot) -> bool:
    """Results that constrain what comes after them; all actions announce if this is the only family.

    Together they contradict neither each other nor the request: whatever an agent has started with, it can
    continue.
    """
    told = plot.order.copy()
    voices = plot.dice.shuffled([a for a in range(plot.cast) if not (plot.open | plot.fixed) >> a & 1])
    wanted = voices if plot.is_alone else voices[: 1 + plot.dice.below(len(voices) or 1)]
    tries = range(ANNOUNCING)
    return any([any(add_announcement(plot, voice, told) for _ in tries) for voice in wanted])


def add_announcement(plot: Plot, voice: int, told: Order) -> bool:
    """One action before or after some others, announced by the result of another."""
    avoid = plot.open | plot.fixed | 1 << voice
    most = min(ANNOUNCED, ((1 << plot.cast) - 1 & ~avoid).bit_count() - 1)
    drawn = plot.draw(2 + max(plot.dice.below(most), plot.dice.below(most)), avoid) if most > 0 else None
    if drawn is None:
        return False
    one, *others = drawn
    direction = plot.dice.pick(DIRECTIONS)
    pairs = [(one, other) if direction == "<" else (other, one) for other in others]
    if any(plot.order.implies(then, first) or told.implies(first, then) for first, then in pairs):
        return False
    for first, then in pairs:
        plot.order.add(first, then)
        plot.sure |= 1 << voice | 1 << first | 1 << then
    forms = [form for form in FORMS if most_actions(form, direction)[1] >= len(others)]
    clause = Clause(plot.dice.pick(forms), direction, Group((one,)), Group(tuple(others)))
    plot.announcements[voice] = Sentence((clause,))
    plot.change(announcements={**plot.world.announcements, IDS[voice]: UNSAID})
    return True


def add_failures(plot: Plot) -> bool:
    drawn = plot.draw(1 + plot.dice.below(2))
    if drawn is None:
        return False
    failures = {IDS[action]: 1 + plot.dice.below(RETRIES) for action in drawn}
    plot.change(failures=failures, retries=RETRIES)
    return True


# In the order in which they have to be added: each takes those before it into account.
ADDING: dict[Family, Callable[[Plot], bool]] = {
    "choice": add_choice,
    "budget": add_options,
    "repeat": add_repeat,
    "data": add_data,
    "adjacent": add_adjacent,
    "dynamic": add_dynamic,
}
