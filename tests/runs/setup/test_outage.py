"""Models that are out, told from agents that have a bad moment."""

import pytest

from misstep.core.model import ModelError
from misstep.core.results.trial import Trial
from misstep.runs.setup.roles import MORE_TIME, Outage, is_out

LATE = Trial("hi", ended="timeout", error="it did not finish within 3 s (--time-per-request)")


@pytest.mark.parametrize(
    "error",
    [
        "Unavailable: openai/x answered 401: no key",
        "AuthenticationError: Error code: 401 - {'error': 'no key'}",
        "AgentError: RateLimitError: too much",
        "APIConnectionError: Connection error.",
        "AgentGenerationError: Error in generating model output:\nError code: 503 - {}",
        "ModelHTTPError: status_code: 500, model_name: x, body: {}",
    ],
)
def test_a_model_that_is_out(error: str) -> None:
    with pytest.raises(ModelError, match="the agent's model is unavailable: "):
        Outage().look_at(Trial("hi", ended="error", error=error), has_begun=True)


@pytest.mark.parametrize(
    "error",
    [
        "",
        "ModelError: openai/x answered 400: maximum context length",
        "BadRequestError: Error code: 400 - {}",
        "KeyError: 'RateLimitError'",
        "ValueError: the answer is 500",
    ],
)
def test_an_agent_that_breaks(error: str) -> None:
    assert not is_out(error)


def test_an_agent_that_is_late_again_and_again() -> None:
    outage = Outage()
    for _ in range(2):
        outage.look_at(LATE, has_begun=False)
        outage.look_at(LATE, has_begun=False)
        outage.look_at(LATE, has_begun=True)  # it is at work
    outage.look_at(LATE, has_begun=False)
    outage.look_at(LATE, has_begun=False)
    with pytest.raises(ModelError, match="did not answer 3 times in a row") as error:
        outage.look_at(LATE, has_begun=False)
    assert MORE_TIME in error.value.hints
