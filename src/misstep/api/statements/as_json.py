"""A stored run as the object that `--json` prints."""

from typing import Any

import msgspec

from misstep.api.benchmarking.running import view_benchmark
from misstep.api.capability import view_capability
from misstep.api.consistency import view_consistency
from misstep.api.crosstalk import view_crosstalk
from misstep.api.dissection import view_dissection
from misstep.api.fixing.differences import diffs_of, override_of
from misstep.api.fixing.running import view_fixing
from misstep.api.fuzzing import view_fuzzing
from misstep.api.runs import view_run
from misstep.api.shrinking import view_reduction
from misstep.core.settings import Settings
from misstep.report.benchmark_json import benchmark_as_json
from misstep.report.consistency_json import consistency_as_json
from misstep.report.crosstalk import crosstalk_as_json
from misstep.report.findings import as_json
from misstep.report.fixing_json import fix_as_json


def run_as_json(settings: Settings, name: str) -> dict[str, Any]:
    view = view_run(settings, name, 0)
    run = view.run.id
    match view.run.purpose.verb:
        case "fuzz":
            return as_json(view_fuzzing(settings, run))
        case "consistency":
            return consistency_as_json(view_consistency(settings, run))
        case "crosstalk":
            return crosstalk_as_json(view_crosstalk(settings, run))
        case "fix":
            fixed = view_fixing(settings, run)
            return fix_as_json(fixed, diffs_of(fixed), override_of(fixed))
        case "files" | "forge":
            return benchmark_as_json(view_benchmark(settings, run))
        case "capability":
            found: msgspec.Struct = view_capability(settings, run)
        case "dissect":
            found = view_dissection(settings, run)
        case "shrink":
            found = view_reduction(settings, run) or view.summary
        case "test" | "paper":
            found = view.summary
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain
