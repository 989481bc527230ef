"""What the print door says beside the answer: limits that do not hold, answers without text."""

from __future__ import annotations

from pathlib import Path

from tests.servers import ProviderServer, chat
from tests.sloyd_process import run


def _run(server: ProviderServer, *words: str, cwd: Path) -> tuple[int, str]:
    where = ("--provider", "openai", "--base-url", server.base_url("openai"))
    done = run("-p", "go", *where, "--api-key", "k", "--model", "m", *words, cwd=cwd)
    return done.returncode, done.stderr.decode()


def test_a_limit_on_cost_without_prices_is_told(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    call = chat(calls=[("read", {"path": "a.txt"})])
    with ProviderServer(call, call, chat("Done.")) as server:
        code, errors = _run(server, "--max-cost", "0.5", cwd=tmp_path)
    assert code == 0
    assert errors == "sloyd: the price of m is not known: the limit of $0.5000 is not kept\n"


def test_an_answer_without_text_is_told(tmp_path: Path, home: Path) -> None:
    with ProviderServer(chat("")) as server:
        code, errors = _run(server, cwd=tmp_path)
    assert (code, errors) == (0, "sloyd: the model's last answer has no text\n")
