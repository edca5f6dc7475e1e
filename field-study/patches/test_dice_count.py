"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_roll_multiple_cpu_842b42a1d6() -> None:
    calls = [
        (
            "roll_multiple",
            {
                "rolls": [{"dice_count": 8, "dice_sides": 47}, {"dice_count": 5, "dice_sides": 34}],
                "count": 2147483648,
            },
        )
    ]
    judged = replay_calls("mcp:npx -y dice-roller-mcp@1.0.1", calls, SETTINGS)
    # When this was written: blow-up, CPU
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
