"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings(timeout=10.0)


def test_get_scenario_data_output_schema_2993e415db() -> None:
    calls = [
        (
            "get-scenario-data",
            {
                "customInputs": {
                    "startingMRR": 0,
                    "monthlyGrowthRate": 0,
                    "monthlyChurnRate": 0,
                    "grossMargin": 0,
                    "fixedCosts": 1,
                }
            },
        )
    ]
    judged = replay_calls(
        "mcp:npx -y @modelcontextprotocol/server-scenario-modeler@2.0.3 --stdio", calls, SETTINGS
    )
    # When this was written: schema, output schema
    told = f"{judged.ruling}: {judged.error} {judged.message}\n{judged.why}"
    assert judged.ruling in ("fine", "refused"), told
