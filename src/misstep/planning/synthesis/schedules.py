"""Days, durations and times for timed problems, generated around a hidden schedule that meets them all."""

from collections.abc import Sequence
from itertools import pairwise

from misstep.planning.language.clarity import with_time
from misstep.planning.language.syntax import TIMED, Bound, Edge, Timed, TimedRelative
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.search import find_plan
from misstep.planning.synthesis.paragraphs import GROUP_RATE
from misstep.planning.synthesis.plot import IDS, Plot

GRAIN = 15  # minutes; durations are multiples of it
POINT = 30  # minutes; points in time are multiples of it
MORNING, NIGHT = 7 * 60, 23 * 60
LONGEST_WORK = 11 * 60  # minutes that all actions together may take
GROUP = 3
SURPRISE_RATE = 0.6
PAUSE_RATE = 0.25
DEADLINE: tuple[Edge, Bound] = ("end", "before")  # can be met only if the duration is known


def add_time(plot: Plot) -> bool:
    """A day, a duration for every action, and windows that a hidden schedule meets."""
    _set_day(plot)
    plan = _hidden_plan(plot)
    if plan is None:
        return False
    starts = _hidden_starts(plot, *plan)
    windows = _draw_windows(plot, starts)
    free = [action for action in starts if action not in windows]
    for action, window in windows.items():
        if not _attach(plot, action, window):
            _say(plot, action, window, starts, free)
    return bool(windows)


def _set_day(plot: Plot) -> None:
    most = max(2 * GRAIN, min(150, 2 * LONGEST_WORK // plot.size - 2 * GRAIN))
    durations = {
        action: 2 * GRAIN + GRAIN * plot.dice.below((most - 2 * GRAIN) // GRAIN + 1)
        for action in IDS[: plot.size]
    }
    begin = MORNING + 60 * plot.dice.below(3)
    room = sum(durations.values()) * (1.2 + plot.dice.below(5) / 10)
    plot.change(
        day=(begin, min(NIGHT, begin + 60 * -(-int(room) // 60))),
        durations=durations,
        attempts=plot.recipe.attempts,
    )


def _hidden_plan(plot: Plot) -> tuple[Demands, list[int]] | None:
    """A way to do everything that is due in the true world."""
    options = list(selections(IDS[: plot.size], plot.constraints(), plot.world))
    for demands in plot.dice.shuffled(options):
        plan = find_plan(demands, ranked=plot.dice.shuffled(range(demands.size)))
        if plan is not None:
            return demands, plan
    return None


def _hidden_starts(plot: Plot, demands: Demands, plan: Sequence[int]) -> dict[int, tuple[int, int]]:
    """When each action starts and ends, with some idle time; repetitions are left out."""
    assert plot.world.day
    numbers = {action: number for number, action in enumerate(IDS)}
    work = sum(plot.world.durations[demands.tools[unit]] for unit in plan)
    clock, end = plot.world.day
    idle = (end - clock - work) // GRAIN
    starts: dict[int, tuple[int, int]] = {}
    for unit in plan:
        pause = plot.dice.below(idle + 1) if plot.dice.chance(PAUSE_RATE) else 0
        idle -= pause
        clock += pause * GRAIN
        done = clock + plot.world.durations[demands.tools[unit]]
        if len(demands.units(demands.roles[unit])) == 1:
            starts[numbers[demands.roles[unit]]] = (clock, done)
        clock = done
    return starts


def _draw_windows(plot: Plot, starts: dict[int, tuple[int, int]]) -> dict[int, TimedRelative]:
    wanted = min(1 + plot.dice.below(max(1, plot.size - 1)), max(1, plot.room))
    windows = _draw_surprise(plot, starts) if plot.room > 1 and plot.dice.chance(SURPRISE_RATE) else {}
    for action in plot.dice.shuffled([action for action in starts if action not in windows]):
        if len(windows) >= wanted:
            break
        window = _draw_window(plot, *starts[action])
        if window and not _is_implied(plot, action, window, windows):
            windows[action] = window
    return windows


def _draw_surprise(plot: Plot, starts: dict[int, tuple[int, int]]) -> dict[int, TimedRelative]:
    """Windows for two neighbours, of which the later one looks more urgent while durations are unknown.

    The first has to end by a time at which the second must have started; in the opposite order, the first
    ends too late. Empty if no two neighbours are suitable.
    """
    pairs = [
        (one, other)
        for one, other in pairwise(starts)
        if starts[one][1] == starts[other][0] and not plot.order.after[one] >> other & 1
    ]
    for first, then in pairs:  # the earlier the better: what comes before could make room
        urgent = -(-starts[then][0] // POINT) * POINT
        if plot.world.day and plot.world.day[0] < urgent and urgent + POINT < starts[then][1]:
            return {
                first: TimedRelative("end", "before", urgent + POINT),
                then: TimedRelative("start", "before", urgent),
            }
    return {}


def _draw_window(plot: Plot, start: int, end: int) -> TimedRelative | None:
    """A time that the schedule meets, not too far off; None if the day already implies it."""
    assert plot.world.day
    dawn, dusk = plot.world.day
    edge, bound = plot.dice.pick(TIMED) if plot.dice.chance(0.6) else DEADLINE
    moment = start if edge == "start" else end
    slack = POINT * plot.dice.below(2)
    later = bound == "after"
    time = moment // POINT * POINT - slack if later else -(-moment // POINT) * POINT + slack
    return TimedRelative(edge, bound, time) if dawn < time and (later or time < dusk) else None


def _is_implied(plot: Plot, action: int, said: TimedRelative, windows: dict[int, TimedRelative]) -> bool:
    """Whether constraints on actions before or after this one imply it."""
    later = said.bound == "after"
    bound = (plot.order.before if later else plot.order.after)[action]
    return any(
        window.bound == said.bound
        and bound >> other & 1
        and (window.time >= said.time if later else window.time <= said.time)
        for other, window in windows.items()
    )


def _attach(plot: Plot, action: int, window: TimedRelative) -> bool:
    """Sometimes attach it to an ordering clause as a relative clause."""
    if not plot.dice.chance(plot.recipe.relative):
        return False
    for number, sentence in enumerate(plot.sentences):
        for changed in with_time(sentence, action, window):
            plot.sentences[number] = changed
            return True
    return False


def _say(
    plot: Plot, action: int, said: TimedRelative, starts: dict[int, tuple[int, int]], free: list[int]
) -> None:
    """State it in a sentence of its own, together with other free actions that it is also true of."""
    form = "fronted" if said.edge == "end" and plot.dice.chance(0.3) else "verb"
    most = min(plot.recipe.group, 2 if form == "fronted" else GROUP)
    group = [action]
    for other in plot.dice.shuffled(free):
        if len(group) < most and plot.dice.chance(GROUP_RATE):
            moment = starts[other][0 if said.edge == "start" else 1]
            if moment >= said.time if said.bound == "after" else moment <= said.time:
                group.append(other)
                free.remove(other)
    remark = Timed(form, said.edge, said.bound, said.time, tuple(group))  # type: ignore[arg-type]
    plot.say(remark, *group)
