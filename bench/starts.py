"""The whole program measured: its start, its first request, and a run of a hundred turns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.cases import Reach
from bench.contenders import ROOT, Pi, quiet_environment, sloyd_program
from bench.measure import Sample, run_child

__all__ = ["START_CASES", "StartBench", "StartCase"]

TURNS = 100


class StartCase:
    """One figure of a whole program.

    Attributes:
        name: short name, for ``--only``.
        title: what the table shows.
        reach: the figure to reach beside pi.
        most_milliseconds: a limit that holds without pi too.
    """

    def __init__(
        self, name: str, title: str, reach: Reach, most_milliseconds: float | None = None
    ) -> None:
        self.name = name
        self.title = title
        self.reach = reach
        self.most_milliseconds = most_milliseconds


START_CASES = (
    StartCase("version", "`--version`", Reach(), 60),
    StartCase("first_request", "exec to the first request; memory of that run", Reach(0.65, 0.45)),
    StartCase("turns", f"{TURNS} turns with one read each", Reach(0.7)),
)


class StartBench:
    """Runs the start cases against a model server of its own."""

    def __init__(self, directory: Path, pi: Pi | None) -> None:
        self._directory = directory
        self._pi = pi
        self._home = directory / "home"
        self._environment = quiet_environment(self._home)

    def run(self, case: StartCase, contender: str) -> Sample:
        """One sample of ``sloyd`` or ``pi``."""
        if case.name == "version":
            return run_child(
                [*self._program(contender), "--version"], self._directory, self._environment
            )[0]
        turns = [{"read": "small.txt"}] * TURNS if case.name == "turns" else [{"text": "Hello."}]
        with self._model(turns) as (port, arrivals):
            self._configure_pi(port)
            sample, _ = run_child(
                self._arguments(contender, port), self._directory, self._environment
            )
            moments = [float(line) for line in arrivals.read_text().split()]
        expected = TURNS + 1 if case.name == "turns" else 1
        if len(moments) != expected:
            raise RuntimeError(f"{contender} made {len(moments)} requests, not {expected}")
        if case.name == "turns":
            return sample
        return Sample(moments[0] - sample.started, sample.memory)

    def _program(self, contender: str) -> list[str]:
        if contender == "pi":
            assert self._pi is not None
            return [self._pi.node, str(self._pi.program)]
        return [sloyd_program()]

    def _arguments(self, contender: str, port: int) -> list[str]:
        if contender == "pi":
            model = ["--no-session", "--provider", "bench", "--model", "bench"]
            return [*self._program("pi"), "-p", *model, "hello"]
        url = f"http://127.0.0.1:{port}/v1"
        model = ["--provider", "openai", "--base-url", url, "--api-key", "x", "--model", "bench"]
        return [*self._program("sloyd"), "-p", "--no-session", "hello", *model]

    def _configure_pi(self, port: int) -> None:
        if self._pi is None:
            return
        (self._home / "pi").mkdir(parents=True, exist_ok=True)
        provider = {
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "apiKey": "x",
            "api": "openai-completions",
            "models": [{"id": "bench", "contextWindow": 200_000}],
        }
        models = json.dumps({"providers": {"bench": provider}})
        (self._home / "pi" / "models.json").write_text(models, encoding="utf-8")

    @contextmanager
    def _model(self, turns: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, Path]]:
        """A model server in a process of its own: its port, and its log of arrivals."""
        self._home.mkdir(exist_ok=True)
        script, arrivals = self._home / "turns.json", self._home / "arrivals.txt"
        script.write_text(json.dumps(turns), encoding="utf-8")
        arrivals.write_text("")
        server = subprocess.Popen(
            [sys.executable, "-m", "bench.model_server", str(script), str(arrivals)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline()), arrivals
        finally:
            server.terminate()
            server.wait()
            if server.stdout is not None:
                server.stdout.close()
