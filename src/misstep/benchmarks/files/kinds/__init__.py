"""The kinds of tasks that people set, each with its forms."""

from misstep.benchmarks.files.kinds import arranging, asking, changing, making, mixing, moving, stumbling
from misstep.benchmarks.files.plan import Form

KINDS: dict[str, tuple[Form, ...]] = {
    "find": (asking.find_named, asking.find_line),
    "count": (asking.count_files, asking.count_folders, asking.count_lines),
    "size": (asking.largest, asking.total),
    "rename": (changing.replace, changing.spaces, changing.prefix, changing.extension, changing.lower),
    "move": (moving.move_into, moving.move_by_type),
    "copy": (moving.copy_into, moving.copy_folder),
    "dates": (arranging.by_name, arranging.by_line),
    "delete": (
        changing.delete_matching,
        changing.delete_leftovers,
        changing.delete_folder,
        changing.delete_by_content,
    ),
    "create": (making.folders, making.files, making.skeleton),
    "summary": (making.sizes, making.totals, making.paths, making.types),
    "steps": (mixing.gather, mixing.release, mixing.tidy),
    "names": (stumbling.rename, stumbling.move, stumbling.swap),
}
