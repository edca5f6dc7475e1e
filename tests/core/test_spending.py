"""How fast a run gets on."""

from misstep.core.spending import Pace


def test_the_rate_is_never_negative() -> None:
    now = [0.0]
    pace = Pace(100, clock=lambda: now[0])
    for at, done in [(1.0, 200), (2.0, 150), (3.0, 90), (4.0, 90)]:  # calls that were reserved are given back
        now[0] = at
        pace.reach(done)
        assert pace.rate is None or pace.rate >= 0
    assert pace.rate == (200 - 100) / 4
