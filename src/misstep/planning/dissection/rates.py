"""How often an agent fails, as a belief that runs make sharper."""

from math import exp, lgamma, log

import msgspec


class Beta(msgspec.Struct, frozen=True):
    """A Beta distribution of a failure rate: as if it had been seen to fail and to pass so often before."""

    failed: float
    passed: float
    weight: float = 1.0


# A mixture; the weights add up to 1.
Rate = tuple[Beta, ...]


def log_marginal(rate: Rate, failed: float, passed: float) -> float:
    """How likely runs are to fail and pass so often, in a given order, as a logarithm."""
    evidence = [log(part.weight) + _log_marginal(part, failed, passed) for part in rate]
    most = max(evidence)
    return most + log(sum([exp(each - most) for each in evidence]))


def expected(rate: Rate, failed: float, passed: float) -> float:
    """How likely the next run is to fail, after so many that failed and that passed."""
    if len(rate) == 1:
        return _mean(rate[0], failed, passed)
    evidence = [log(part.weight) + _log_marginal(part, failed, passed) for part in rate]
    most = max(evidence)
    weights = [exp(each - most) for each in evidence]
    means = [_mean(part, failed, passed) for part in rate]
    return sum([w * mean for w, mean in zip(weights, means, strict=True)]) / sum(weights)


def _mean(part: Beta, failed: float, passed: float) -> float:
    return (part.failed + failed) / (part.failed + part.passed + failed + passed)


def _log_marginal(part: Beta, failed: float, passed: float) -> float:
    """The Beta-binomial likelihood of outcomes in a given order."""
    return _log_beta(part.failed + failed, part.passed + passed) - _log_beta(part.failed, part.passed)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
