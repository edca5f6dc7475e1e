"""Parameters that are documented and don't exist."""

from collections.abc import Iterator

from misstep.core.remark import Remark
from misstep.errors import did_you_mean
from misstep.tooling.lint.subject import Subject, arguments_of


def phantom_parameters(subject: Subject) -> Iterator[Remark]:
    """Those of a docstring that neither the schema has nor the code, which may be given some by others."""
    function = subject.function
    if function is not None and function.args.kwarg is not None:
        return
    names = [part.name for part in subject.parts]
    known = {*names, *(each.arg for each in arguments_of(function))} if function is not None else {*names}
    if function is not None and function.args.vararg is not None:
        known.add(function.args.vararg.arg)
    for name, text in subject.documented.items():
        if name not in known:
            message = f"documents '{name}', which is no parameter"
            advice = did_you_mean(name, names) or "take it out, or add the parameter"
            yield Remark("phantom", "ill", "description", message, f"“{name}: {text}”", advice)
