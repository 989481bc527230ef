"""The pytest fixture `recorded_model`: tests of agents that need neither key nor network.

    async def test_my_agent(recorded_model, tmp_path):
        async with CodingAgent.open(model=recorded_model("anthropic/haiku"), cwd=tmp_path) as agent:
            result = await agent.prompt("Say hello.")
        assert "hello" in result.text.lower()

``pytest --sloyd-record`` asks the real model and keeps the traffic in a directory ``cassettes``
beside the test. From then on the test plays it; a request that differs fails and says where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sloyd.harness.model_choice import ModelChoice
    from sloyd.llm.http_model import HttpModel
    from sloyd.llm.recorded import RecordedModel

__all__ = ["RecordedModels", "pytest_addoption", "recorded_model"]

_OPTION = "--sloyd-record"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sloyd-record``."""
    parser.getgroup("sloyd").addoption(
        _OPTION,
        action="store_true",
        help="ask the real models and record their answers for `recorded_model` anew",
    )


class RecordedModels:
    """Gives a test its models; call it once for each model that the test needs."""

    def __init__(self, node: pytest.Item, cwd: Path, *, record: bool) -> None:
        self._node = node
        self._cwd = cwd
        self._record = record
        self._played: list[tuple[Path, RecordedModel]] = []

    def __call__(
        self,
        model: HttpModel | ModelChoice | str | None = None,
        *,
        name: str = "",
        cwd: str | Path | None = None,
    ) -> HttpModel:
        """A model that plays what was recorded for this test.

        Args:
            model: what to ask while recording: a model, or its name as ``--model`` takes it, with
                the keys of the environment and the user's ``config.toml``. Not looked at else.
            name: tells the models of one test apart.
            cwd: the directory that the agent works in, whose name does not count when requests are
                compared; by default the test's ``tmp_path``.
        """
        from sloyd.llm.recorded import RecordedModel

        place = cwd or self._cwd
        file = self._file(name)
        if self._record:
            return self._recording(file, model, place)
        if not file.exists():
            pytest.fail(
                f"there is no cassette {file}; record it once:"
                f" pytest {_OPTION} {self._node.nodeid!r}",
                pytrace=False,
            )
        played = RecordedModel(file, cwd=place)
        self._played.append((file, played))
        return played

    def check(self) -> None:
        """Fail the test when it has asked for less than was recorded."""
        for file, model in self._played:
            if model.remaining:
                pytest.fail(
                    f"{model.remaining} exchanges of {file} were not played;"
                    f" if that is right, record anew with {_OPTION}",
                    pytrace=False,
                )

    def _file(self, name: str) -> Path:
        words = f"{self._node.name}-{name}" if name else self._node.name
        short = re.sub(r"[^\w.-]+", "-", words).strip("-")
        return self._node.path.parent / "cassettes" / self._node.path.stem / f"{short}.jsonl"

    def _recording(
        self, file: Path, model: HttpModel | ModelChoice | str | None, place: str | Path
    ) -> HttpModel:
        from sloyd.llm.http_model import HttpModel
        from sloyd.llm.recorded import record

        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        real = model if isinstance(model, HttpModel) else _real(model)
        return record(real, file, cwd=place)


def _real(choice: ModelChoice | str | None) -> HttpModel:
    import os

    from sloyd.harness.home import sloyd_home
    from sloyd.harness.model_choice import ModelChoice, choose_model
    from sloyd.harness.model_config import read_model_tables
    from sloyd.harness.settings_files import load_settings
    from sloyd.llm.http_model import HttpModel

    loaded = load_settings(sloyd_home(os.environ) / "config.toml")
    tables, _ = read_model_tables(loaded)
    named = choice if isinstance(choice, ModelChoice) else ModelChoice(model=choice)
    model, _ = choose_model(named, os.environ, loaded.settings, tables)
    if not isinstance(model, HttpModel):
        pytest.fail(f"{named.model} asks no provider: there is nothing to record", pytrace=False)
    return model


@pytest.fixture
def recorded_model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecordedModels]:
    """Gives models that answer from recorded traffic: ``recorded_model("provider/id")``."""
    models = RecordedModels(request.node, tmp_path, record=bool(request.config.getoption(_OPTION)))
    failures = request.session.testsfailed
    yield models
    if request.session.testsfailed == failures:
        models.check()
