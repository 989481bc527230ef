"""What holds for every test: no network, no home directory, no keys, and how hard to search."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.guard import sitecustomize as guard

GUARD = Path(__file__).parent / "guard"
SECRET = re.compile(
    r".*(_API_KEY|_BASE_URL|_AUTH_TOKEN)|SLOYD_.*|PI_.*|AWS_.*|GOOGLE_.*|.*_PROXY", re.IGNORECASE
)
KEPT = {"SLOYD_TEST_PROFILE"}
COMMON = {
    "deadline": None,  # a slow moment of the machine is no fault
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}

settings.register_profile("default", max_examples=60, **COMMON)  # type: ignore[arg-type]
settings.register_profile("fuzz", max_examples=2000, **COMMON)  # type: ignore[arg-type]


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: nothing of the user's is left in reach."""
    settings.load_profile(os.environ.get("SLOYD_TEST_PROFILE", "default"))
    guard.install()
    home = Path(tempfile.mkdtemp(prefix="sloyd-tests-")).resolve()
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    for name in list(os.environ):
        if SECRET.fullmatch(name) and name not in KEPT:
            del os.environ[name]
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(home)
    os.environ["SLOYD_HOME"] = str(home / ".sloyd")
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
    # `sloyd` and `python3` mean those of this environment, whatever the user's PATH holds.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    search_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), search_path]))


@pytest.fixture(autouse=True)
def stays_on_loopback() -> Iterator[None]:
    """Fail a test that tried to leave loopback, also when the code under test hid the refusal."""
    guard.attempts.clear()
    yield
    assert not guard.attempts, f"tried to leave loopback: {guard.attempts}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of the test's own."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("SLOYD_HOME", str(directory / ".sloyd"))
    return directory
