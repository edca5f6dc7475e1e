"""Servers that break contracts on purpose, what has to be found in them, and how they are fuzzed."""

import sys
from pathlib import Path

from misstep.core.results.fuzzing import FuzzReport
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.run import fuzz_tools

MOST_CALLS = 2_000  # for all that is done with a server
SERVERS = Path(__file__).parent / "planted_tools"
PLANTED = {
    "contract_server.py": {
        ("get_settings", "read-only"),
        ("show_visits", "read-only"),
        ("get_diary", "read-only"),
        ("get_banner", "read-only"),
        ("add_entry", "not destructive"),
        ("archive_report", "not destructive"),
        ("sort_folder", "not destructive"),
        ("enable_flag", "idempotent"),
        ("register_user", "idempotent"),
        ("follow", "idempotent"),
        ("import_numbers", "all or nothing"),
        ("browse_cities", "pages"),
        ("browse_rivers", "pages"),
        ("look_up_height", "error flag"),
        ("set_alarm", "success flagged"),
        ("get_temperature", "output schema"),
        ("choose_seat", "refused arguments"),
        ("get_document", "path outside"),
        ("edit_document", "path outside"),
        ("measure_word", "injection"),
        ("find_fruit", "injection"),
    },
    "shelf_server.py": {
        ("read_note", "read back"),
        ("get_memo", "read back"),
        ("load_letter", "read back"),
        ("get_poster", "read back"),
        ("get_label", "read back"),
        ("read_template", "read back"),
        ("delete_card", "deleted"),
        ("delete_ticket", "nothing else"),
        ("update_price", "nothing else"),
        ("edit_album", "still readable"),
        ("list_chapters", "listed once"),
        ("list_tags", "listed once"),
        ("write_query", "read back"),
    },
    "record_server.py": {
        ("get_ticket", "read back"),
        ("get_letter", "read back"),
        ("update_goal", "read back"),
        ("list_reminders", "listed once"),
        ("list_events", "listed once"),
        ("create_recipe", "nothing else"),
        ("update_gadget", "nothing else"),
        ("edit_invoice", "nothing else"),
        ("remove_customer", "nothing else"),
        ("delete_project", "deleted"),
        ("import_ingredient", "all or nothing"),
    },
    "request_server.py": {
        ("get_rate", "closed world"),
        ("count_words", "closed world"),
        ("plan_meeting", "example"),
        ("mix_colour", "example"),
        ("book_table", "example"),
        ("add_guest", "concurrency"),
        ("register_seat", "concurrency"),
        ("get_length", "concurrency"),
        ("get_rate", "cancellation"),
        ("get_hours", "secret"),
        ("convert_temperature", "stack trace"),
        ("get_meaning", "hidden text"),
        ("get_translation", "hidden text"),
        ("get_star", "hidden text"),
        ("get_page", "path outside"),
        ("get_rate", "hidden text"),
        ("get_planet", "hidden text"),
        ("get_pages", "path outside"),
        ("get_title", "path outside"),
        ("get_title", "unlisted tool"),
    },
}


def fuzz(folder: Path, server: str, version: str, seed: int) -> FuzzReport:
    settings = Settings(
        store=str(folder / "store.db"),
        calls_per_tool=10,
        time_per_tool=400.0,
        timeout=5.0,
        jobs=2,
        seed=seed,
        sandbox="bubblewrap",
    )
    return fuzz_tools(settings, [f"mcp:{sys.executable} {SERVERS / server} {version}"])


def calls_in(report: FuzzReport) -> int:
    return sum(tool.calls + tool.triage_calls for tool in report.tools)
