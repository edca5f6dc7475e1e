"""Measures how many cases a capability curve takes, and how often its interval contains the truth."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import msgspec

from benchmarks.measure import Effort, Mark, Row, best_cpu
from misstep.core.results.capability import Half
from misstep.core.rng import Dice, derive_seed
from misstep.core.stats import logistic
from misstep.planning.capability import Design, Steps, adaptive_steps, full_steps
from misstep.planning.curve_fitting import Count, fit_logistic

DESIGN = Design(low=2, high=9)  # as in the paper
HALVES = (3.0, 3.5, 4.2, 5.0, 5.5, 6.2, 7.0, 7.8, 8.5)
SPREADS = (0.3, 0.5, 0.7, 1.0)
BATCH = 10
FIXED_RUNS = 15  # runs of the full design per agent, for its mean number of cases and interval width


class Trial(msgspec.Struct, frozen=True):
    """One run with an agent whose 50 % point is known."""

    cases: int
    half: Half | None
    truth: float

    @property
    def width(self) -> float | None:
        low, high = self.half.interval if self.half else (None, None)
        return None if low is None or high is None else high - low

    @property
    def holds(self) -> bool:
        low, high = self.half.interval if self.half else (None, None)
        return (low is None or low <= self.truth) and (high is None or self.truth <= high)


def capability_rows(effort: Effort) -> Iterator[Row]:
    agents = [(half, spread) for half in HALVES for spread in SPREADS][:: max(1, round(1 / effort.scale))]
    repeats = effort.times(2)
    full, chosen, saved, narrower = list[Trial](), list[Trial](), list[float](), list[float]()
    for number, (half, spread) in enumerate(agents):
        seeds = [derive_seed(number, seed) for seed in range(FIXED_RUNS + repeats)]
        fixed = [_try(full_steps(DESIGN), half, spread, seed) for seed in seeds[repeats:]]
        adaptive = [_try(adaptive_steps(DESIGN, BATCH), half, spread, seed) for seed in seeds[:repeats]]
        saved.append(100 * (1 - _cases(adaptive) / _cases(fixed)))
        narrower.append(_width(adaptive) / _width(fixed))
        full += fixed
        chosen += adaptive
    who = f"{len(agents)} simulated agents, 50 % at 3 to 8.5 actions, spread 0.3 to 1"
    yield Row("capability, cases of the full design", _cases(full), "", f"mean of {len(full)} runs, {who}")
    yield Row("… of the adaptive one", _cases(chosen), "", f"mean of {len(chosen)} runs, same agents")
    how = "mean over the agents, each against the full design's mean"
    yield Row("… fewer", fmean(saved), "%", how, Mark("≥", 40))
    spread_out = f"the same for the agent where it saves least; {max(saved):.0f} % where it saves most"
    yield Row("… fewer, with the least rewarding agent", min(saved), "%", spread_out)
    yield Row("… width of its interval ÷ the full design's", fmean(narrower), "×", how, Mark("≤", 1.03))
    yield from _coverage_rows(full, chosen)
    yield from _cost_rows(effort)


def _coverage_rows(full: Sequence[Trial], chosen: Sequence[Trial]) -> Iterator[Row]:
    how = "how often the 95 % interval of the 50 % point holds the truth"
    held = 100 * fmean(trial.holds for trial in full)
    yield Row("95 % interval holds, full design", held, "%", f"{len(full)} runs: {how}", Mark("≥", 92))
    held = 100 * fmean(trial.holds for trial in chosen)
    yield Row("… adaptive design", held, "%", f"{len(chosen)} runs: {how}")


def _cost_rows(effort: Effort) -> Iterator[Row]:
    def measure(_: int) -> Trial:
        return _try(adaptive_steps(DESIGN, BATCH), 6.2, 0.7, seed=1)

    seconds = best_cpu(min(3, effort.repeats), measure)[0]
    choices = measure(0).cases / BATCH
    how = f"mean of {choices:.0f} choices, the test whether it is enough included"
    yield Row("CPU of one adaptive choice", 1000 * seconds / choices, "ms", how)


def _try(steps: Steps, half: float, spread: float, seed: int) -> Trial:
    """Random outcomes in place of an agent: a case with n actions passes with the curve's probability."""
    dice, cases, counts = Dice(seed), 0, dict[int, tuple[int, int]]()
    try:
        size, count = next(steps)
        while True:
            passed = sum(dice.chance(logistic(size, half, spread)) for _ in range(count))
            before = counts.get(size, (0, 0))
            counts[size] = (before[0] + passed, before[1] + count)
            cases += count
            size, count = steps.send((passed, count))
    except StopIteration:
        return Trial(cases, _half(counts), half)


def _half(counts: dict[int, tuple[int, int]]) -> Half | None:
    points: list[Count] = [(size, passed, judged) for size, (passed, judged) in counts.items()]
    fit = fit_logistic(points)
    return fit.half if fit else None


def _cases(trials: Sequence[Trial]) -> float:
    return fmean(trial.cases for trial in trials)


def _width(trials: Sequence[Trial]) -> float:
    """The mean width of bounded intervals; nearly all are."""
    return fmean([trial.width for trial in trials if trial.width is not None])
