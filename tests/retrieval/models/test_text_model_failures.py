"""What can go wrong with a provider of text: each has a kind, bounded attempts, and a safe sentence."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from retrieval.models.protocol import ErrorKind
from tests.doubles import gemini
from tests.doubles.http import Fail, Raw
from tests.doubles.openai_compatible import Finished
from tests.retrieval.models.served import NAMES, SPECS, Name, serve, text_model
from tests.retrieval.models.support import PROMPT, FakeTime, assert_silent, collect

Case = tuple[object, ErrorKind, int]
ALIKE: list[Case] = [
    (Fail(500), "unavailable", 3),
    (Fail(503), "unavailable", 3),
    (Fail(529), "unavailable", 3),
    (Fail(408), "timeout", 3),
    (Fail(504), "timeout", 3),
    (Fail(429), "rate_limited", 3),
    (Fail(429, body="slow down"), "rate_limited", 3),
    (Fail(400), "misconfigured", 1),
    (Fail(403), "misconfigured", 1),
    (Fail(413, "the request is too large"), "too_long", 1),
    (Fail(400, body=["odd"]), "misconfigured", 1),
    (Raw("{not json"), "unavailable", 3),
    (Raw("[]"), "unavailable", 3),
    (Raw("{}"), "unavailable", 3),
    (Raw("null"), "unavailable", 3),
    (Raw('"text"'), "unavailable", 3),
    (Raw("<html>proxy</html>", "text/html"), "unavailable", 3),
]
GEMINI: list[Case] = [
    (Raw('{"candidates": 5}'), "unavailable", 3),
    (Raw('{"candidates": [{"content": {"parts": "text"}}]}'), "unavailable", 3),
    (gemini.Finished("", reason="MALFORMED_FUNCTION_CALL"), "unavailable", 3),
    (gemini.Finished("", reason="MAX_TOKENS"), "invalid_output", 1),
    (gemini.Blocked("prompt"), "refused", 1),
    (gemini.Blocked("prompt", "PROHIBITED_CONTENT"), "refused", 1),
    (gemini.Blocked("candidate"), "refused", 1),
    (gemini.Blocked("candidate", "RECITATION"), "refused", 1),
]
OPENAI: list[Case] = [
    (Raw('{"choices": []}'), "unavailable", 3),
    (Raw('{"choices": [{"message": "text"}]}'), "unavailable", 3),
    (Fail(429, body={"error": {"code": "insufficient_quota", "message": "x"}}), "misconfigured", 1),
    (Fail(422, body={"object": "error", "message": "Model not found", "code": 422}), "misconfigured", 1),
    (Fail(400, body={"error": {"code": "content_filter", "message": "x"}}), "refused", 1),
    (Finished("", "content_filter"), "refused", 1),
    (Finished("", "stop", refusal="I can't help with that."), "refused", 1),
    (Finished("", "length"), "invalid_output", 1),
]


@pytest.mark.parametrize(
    ("name", "answer", "kind", "attempts"),
    [("gemini", *case) for case in ALIKE + GEMINI] + [("openai", *case) for case in ALIKE + OPENAI],
)
async def test_failures_have_a_kind_and_bounded_attempts(
    name: Name, answer: Any, kind: ErrorKind, attempts: int
) -> None:
    async with serve(name) as served:
        served.double.always(lambda _: answer)
        error = await served.failed()
        assert error.kind == kind
        assert error.model == SPECS[name]
        assert len(served.double.requests) == attempts
        _, _, streamed = await collect(served.model.stream(PROMPT))
        assert streamed is not None
        assert streamed.kind == kind
        assert len(served.double.requests) == 2 * attempts
    for seen in (error, streamed):
        assert str(seen).endswith(".")
        assert_silent(seen, "test-key")


@pytest.mark.parametrize(("name", "variable"), [("gemini", "GEMINI_API_KEY"), ("openai", "OPENAI_API_KEY")])
async def test_a_bad_key_names_the_variable_and_never_the_key(
    name: Name, variable: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "sk-AIza-wrong-key-123"
    async with serve(name, key=key) as served:
        error = await served.failed()
        _, _, streamed = await collect(served.model.stream(PROMPT))
        assert key in json.dumps([received.headers for received in served.double.requests])
        shown = f"{served.model!r} {error!r} {streamed!r}"
    assert error.kind == "misconfigured"
    assert variable in str(error)
    assert streamed is not None
    assert len(served.double.requests) == 2
    assert_silent(error, key)
    assert_silent(streamed, key)
    logged = caplog.text + "".join(capsys.readouterr()) + shown
    assert key not in logged
    assert "merger" not in logged


async def test_a_prompt_is_in_no_log(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in NAMES:
        async with serve(name) as served:
            served.double.script(Fail(503), Fail(429))
            await served.model.complete(PROMPT)
            await collect(served.model.stream(PROMPT))
            key = served.double.key  # pyright: ignore
            logged = caplog.text + "".join(capsys.readouterr())
            assert "model_retry" in logged
            assert "merger" not in logged
            assert key not in logged


@pytest.mark.parametrize(("name", "spec"), [("gemini", "gemini:gemini-9"), ("openai", "openai:gpt-9")])
async def test_an_unknown_model_is_named(name: Name, spec: str) -> None:
    async with serve(name, spec=spec) as served:
        error = await served.failed()
    assert error.kind == "misconfigured"
    assert spec.split(":")[1] in str(error)
    assert len(served.double.requests) == 1


@pytest.mark.parametrize(("name", "small"), [("gemini", {"input_tokens": 3}), ("openai", {"context": 3})])
async def test_a_prompt_that_does_not_fit_is_too_long(name: Name, small: Any) -> None:
    async with serve(name, **small) as served:
        error = await served.failed()
    assert error.kind == "too_long"
    assert len(served.double.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_an_address_that_nobody_listens_on_is_unavailable(name: Name) -> None:
    async with serve(name) as served:
        url = served.double.url
    time = FakeTime()
    model = text_model(name, "key", url, time)
    _, _, error = await collect(model.stream(PROMPT))
    await model.aclose()
    assert error is not None
    assert error.kind == "unavailable"
    assert "can't be reached" in str(error)
    assert time.slept == [0.5, 1.0]
