"""What commands that write training examples share."""

from collections.abc import Mapping

import click

from misstep.core.export import LeftOut

_REASONS: Mapping[LeftOut, str] = {
    "errored": "errored",
    "inconclusive": "inconclusive",
    "unsolved": "without a correct plan that is known",
    "faultless": "with nothing wrong so far",
    "stepwise": "in which something has to be learnt from a result",
}

one_shot_option = click.option(
    "--one-shot",
    is_flag=True,
    help="Ask for all calls in one turn; cases in which results tell something needed are left out.",
)


def left_out_lines(counts: Mapping[LeftOut, int]) -> list[str]:
    """What is not among the examples, if there is such."""
    told = [f"{count} {_REASONS[reason]}" for reason, count in counts.items()]
    return [f"left out: {', '.join(told)}"] if told else []
