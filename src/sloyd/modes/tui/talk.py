"""What happens with what a person sends: a prompt, steering, a command, a line for the shell."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from sloyd.errors import AgentBusy, SloydError
from sloyd.harness.commands import submit
from sloyd.harness.door import Door
from sloyd.llm.messages import Image, Text, UserContent, UserMessage
from sloyd.modes.tui.blocks import NoticeBlock, ShellBlock
from sloyd.modes.tui.transcript import Transcript

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent
    from sloyd.harness.user_shell import UserShell

__all__ = ["Talk", "message_of"]

_SHOWN_OUTPUT = 100_000
"""Bytes of a shell command's output that are kept for drawing while it runs."""


class Talk:
    """Leads the conversation. ``start`` runs a coroutine beside the screen.

    ``restore`` gets a text back that could not be sent; ``done`` is called after each command.
    """

    def __init__(
        self,
        agent: CodingAgent,
        transcript: Transcript,
        door: Door,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        restore: Callable[[str], None],
        shell_changed: Callable[[bool], None],
        done: Callable[[], None],
    ) -> None:
        self._agent = agent
        self._transcript = transcript
        self._door = door
        self._start = start
        self._restore = restore
        self._shell_changed = shell_changed
        self._done = done
        self._shell: UserShell | None = None

    def send(self, text: str, images: Sequence[Image] = (), *, follow_up: bool = False) -> None:
        """Take what was entered."""
        if text.startswith("!") and text.strip("! \t\n"):
            self._start(self._run_shell(text))
        else:
            self._start(self._submit(text, images, follow_up=follow_up))

    async def prompt(self, message: UserMessage) -> None:
        """Say something to the model: now, or, when it works, after its turn."""
        if self._agent.is_running:
            self._agent.steer(message)
            return
        try:
            await self._agent.prompt(message)
        except AgentBusy:
            self._agent.steer(message)
        except SloydError as error:
            self._tell(error)

    def stop_shell(self) -> bool:
        """Stop the command that the person runs; false when there is none."""
        if self._shell is None or not self._shell.is_running:
            return False
        self._shell.stop()
        return True

    def take_back(self) -> str:
        """The waiting messages as one text; nothing waits any more."""
        steering, follow_ups = self._agent.agent.clear_queue()
        texts = [_text(message) for message in (*steering, *follow_ups)]
        return "\n\n".join(text for text in texts if text)

    async def _submit(self, text: str, images: Sequence[Image], *, follow_up: bool) -> None:
        try:
            said = await submit(self._agent, text, self._door)
        except SloydError as error:
            self._tell(error)
            self._restore(text)
            return
        self._done()
        if said is None:
            return
        message = message_of(said, images)
        if follow_up and self._agent.is_running:
            self._agent.follow_up(message)
        else:
            await self.prompt(message)

    async def _run_shell(self, text: str) -> None:
        from sloyd.harness.user_shell import UserShell

        apart = text.startswith("!!")
        command = text.lstrip("!").strip()
        if self._shell is None:
            self._shell = UserShell(self._agent)
        block = ShellBlock(command, running=True, shared=not apart)
        self._transcript.add(block)
        kept = bytearray()

        def show(data: bytes) -> None:
            kept.extend(data)
            del kept[:-_SHOWN_OUTPUT]
            block.update(kept.decode("utf-8", "replace"), running=True)
            self._transcript.changed()

        self._shell_changed(True)
        try:
            done = await self._shell.run(command, exclude_from_context=apart, on_output=show)
        except SloydError as error:
            block.update("", running=False)
            self._tell(error)
        else:
            block.update(done.output, done.exit_code)
            if done.cancelled:
                self._transcript.add(NoticeBlock("stopped", "warning"))
        finally:
            self._shell_changed(False)
            self._transcript.changed()

    def _tell(self, error: SloydError) -> None:
        self._transcript.add(NoticeBlock(str(error), "error"))


def message_of(text: str, images: Sequence[Image]) -> UserMessage:
    """What was written and attached, as the model gets it."""
    if not images:
        return UserMessage(content=text)
    content: tuple[UserContent, ...] = (Text(text), *images) if text else tuple(images)
    return UserMessage(content=content)


def _text(message: UserMessage) -> str:
    from sloyd.llm.messages import text_of

    return text_of(message.content)
