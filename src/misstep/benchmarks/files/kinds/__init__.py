"""The kinds of tasks, each with its forms."""

from misstep.benchmarks.files.kinds import several, single
from misstep.benchmarks.files.scene import Form

KINDS: dict[str, tuple[Form, ...]] = {
    "find": (single.find_named, single.find_line),
    "count": (single.count_files, single.count_folders, single.count_lines),
    "size": (single.largest, single.total),
    "rename": (single.replace, single.spaces, single.prefix, single.extension, single.lower),
    "move": (single.move_into, single.move_by_type),
    "copy": (single.copy_into, single.copy_folder),
    "dates": (single.by_name, single.by_line),
    "delete": (
        single.delete_matching,
        single.delete_leftovers,
        single.delete_folder,
        single.delete_by_content,
    ),
    "create": (several.folders, several.files, several.skeleton),
    "summary": (several.sizes, several.totals, several.paths, several.types),
    "steps": (several.gather, several.release, several.tidy),
    "names": (single.rename, single.move, single.swap),
}
