"""The project that the demo works on: where it lies in the package, and a fresh copy of it."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sloyd.errors import UsageError

__all__ = ["PROMPT", "DemoProject", "intro", "outro", "prepare"]

PROMPT = "The tests of this project fail. Find out why, mend it, and show that they pass."

_DATA = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class DemoProject:
    """A fresh copy of the demo project.

    Attributes:
        directory: where it is; the agent's working directory.
        script_path: the turns of the scripted model, for ``--model scripted:FILE``.
        prompt: what the person asks for.
    """

    directory: Path
    script_path: Path
    prompt: str = PROMPT


def prepare(directory: Path | None = None) -> DemoProject:
    """Copy the demo project into a directory, by default a new temporary one.

    The tests are to run under the interpreter that runs Sloyd, for ``python3`` may not be on PATH;
    so a ``run_tests.sh`` that names it is put beside them.

    Raises:
        UsageError: the directory has something in it, or cannot be made.
    """
    try:
        if directory is None:
            directory = Path(tempfile.mkdtemp(prefix="sloyd-demo-"))
        directory = directory.resolve()
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UsageError(f"{directory} is not an empty directory; name a new one for the demo")
        shutil.copytree(
            _DATA / "project",
            directory,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        # -B: nobody wants compiled files in the directory that is shown at the end.
        run_tests = f"exec {shlex.quote(sys.executable)} -B -m unittest\n"
        (directory / "run_tests.sh").write_text(run_tests, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the demo project cannot be put in place: {error}") from error
    return DemoProject(directory, _DATA / "script.json")


def intro(project: DemoProject) -> str:
    """What a person reads before the demo."""
    return (
        "This is a demo. Only the words of the model are scripted; the tools, files, processes\n"
        "and diffs are real. No network is used.\n\n"
        f"A small project with failing tests is in {project.directory}\n"
    )


def outro(project: DemoProject) -> str:
    """What a person reads after a demo that went well."""
    return (
        f"The project, mended, is in {project.directory}\n\n"
        "With a model of your own, in a project of your own:\n\n"
        "    export ANTHROPIC_API_KEY=...      or OPENAI_API_KEY\n"
        '    sloyd -p "why does the build fail?"\n\n'
        "or with a server on this machine (vLLM, llama.cpp, Ollama, LM Studio):\n\n"
        "    sloyd --provider openai --base-url http://127.0.0.1:11434/v1 \\\n"
        "        --api-key x --model NAME\n"
    )
