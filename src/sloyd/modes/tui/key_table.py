"""Every action that a key can start, declared once: name, keys, meaning, where it applies.

``keybindings.toml``, ``/hotkeys`` and the reference page all speak of this table. Names and keys
follow pi's where the meaning is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["ACTIONS", "TOGETHER", "KeyAction", "KeyContext"]

KeyContext: TypeAlias = Literal[
    "composer", "app", "transcript", "search", "list", "sessions", "tree", "models"
]

TOGETHER: tuple[frozenset[KeyContext], ...] = (
    frozenset({"composer", "app", "transcript"}),
    frozenset({"search"}),
    frozenset({"list", "sessions"}),
    frozenset({"list", "tree"}),
    frozenset({"list", "models"}),
)
"""Contexts whose keys are heard at the same time; elsewhere a key may mean something else."""


@dataclass(frozen=True, slots=True)
class KeyAction:
    """One action.

    Attributes:
        name: the key of ``keybindings.toml``.
        keys: the default keys, as `sloyd.modes.tui.keys` spells them.
        doc: what it does, in a few words.
    """

    name: str
    context: KeyContext
    keys: tuple[str, ...]
    doc: str


def _actions(context: KeyContext, *rows: tuple[str, str, str]) -> tuple[KeyAction, ...]:
    return tuple(KeyAction(name, context, tuple(keys.split()), doc) for name, keys, doc in rows)


ACTIONS: tuple[KeyAction, ...] = (
    *_actions(
        "composer",
        ("cursor.up", "up", "line up, or an older prompt"),
        ("cursor.down", "down", "line down, or a newer prompt"),
        ("cursor.left", "left ctrl+b", "character left"),
        ("cursor.right", "right ctrl+f", "character right"),
        ("cursor.word_left", "alt+left ctrl+left alt+b", "word left"),
        ("cursor.word_right", "alt+right ctrl+right alt+f", "word right"),
        ("cursor.line_start", "home ctrl+a", "start of the line"),
        ("cursor.line_end", "end ctrl+e", "end of the line"),
        ("cursor.jump_forward", "ctrl+]", "jump to a character ahead"),
        ("cursor.jump_backward", "ctrl+alt+]", "jump to a character behind"),
        ("edit.delete_left", "backspace ctrl+h shift+backspace", "delete the character before"),
        ("edit.delete_right", "delete ctrl+d", "delete the character behind"),
        ("edit.delete_word_left", "ctrl+w alt+backspace", "cut the word before"),
        ("edit.delete_word_right", "alt+d alt+delete", "cut the word behind"),
        ("edit.delete_to_start", "ctrl+u", "cut to the start of the line"),
        ("edit.delete_to_end", "ctrl+k", "cut to the end of the line"),
        ("edit.yank", "ctrl+y", "put back what was cut"),
        ("edit.yank_older", "alt+y", "put back what was cut before that"),
        ("edit.undo", "ctrl+- ctrl+_", "undo"),
        ("edit.redo", "alt+- alt+_", "redo"),
        ("input.newline", "shift+enter ctrl+j", "new line"),
        ("input.submit", "enter", "send; while the model works, steer it"),
        ("input.follow_up", "alt+enter", "send when the model is done"),
        ("input.complete", "tab", "complete a path or a command"),
        ("input.history", "ctrl+r", "search in older prompts"),
        ("input.editor", "ctrl+g", "write in the external editor"),
        ("input.paste_image", "ctrl+v alt+v", "paste an image, or text"),
        ("queue.take_back", "alt+up", "take waiting messages back"),
    ),
    *_actions(
        "app",
        ("app.interrupt", "escape", "stop the model; twice: the tree"),
        ("app.clear", "ctrl+c", "clear what is written; twice: leave"),
        ("app.exit", "ctrl+d", "leave, when nothing is written"),
        ("app.suspend", "ctrl+z", "go to the background"),
        ("app.redraw", "f5", "draw the screen again"),
        ("model.pick", "ctrl+l", "choose a model"),
        ("model.next", "ctrl+p", "next favourite model"),
        ("model.previous", "shift+ctrl+p", "previous favourite model"),
        ("thinking.next", "shift+tab", "next thinking level"),
        ("thinking.toggle", "ctrl+t", "show or fold the reasoning"),
        ("tools.toggle", "ctrl+o", "open or fold the output of tools"),
        ("copy.answer", "ctrl+x", "copy the last answer, or what is selected"),
    ),
    *_actions(
        "transcript",
        ("view.page_up", "pageup", "a page up"),
        ("view.page_down", "pagedown", "a page down"),
        ("view.top", "ctrl+home", "to the beginning"),
        ("view.bottom", "ctrl+end", "to the end"),
        ("view.previous_prompt", "ctrl+up", "to the prompt before"),
        ("view.next_prompt", "ctrl+down", "to the next prompt"),
        ("view.search", "ctrl+shift+f alt+/", "search in the conversation"),
    ),
    *_actions(
        "search",
        ("search.next", "enter ctrl+g down", "next match"),
        ("search.previous", "shift+enter ctrl+shift+g up", "match before"),
        ("search.close", "escape ctrl+c", "end the search"),
    ),
    *_actions(
        "list",
        ("list.up", "up", "up"),
        ("list.down", "down", "down"),
        ("list.page_up", "pageup", "a page up"),
        ("list.page_down", "pagedown", "a page down"),
        ("list.choose", "enter", "choose"),
        ("list.close", "escape ctrl+c", "leave the list"),
    ),
    *_actions(
        "sessions",
        ("sessions.scope", "tab", "this directory, or all"),
        ("sessions.path", "ctrl+p", "show the paths"),
        ("sessions.sort", "ctrl+s", "other order"),
        ("sessions.named", "ctrl+n", "only named ones, or all"),
        ("sessions.rename", "ctrl+r", "rename"),
        ("sessions.delete", "ctrl+d ctrl+backspace", "delete"),
    ),
    *_actions(
        "tree",
        ("tree.fold", "ctrl+left alt+left left", "fold the branch"),
        ("tree.unfold", "ctrl+right alt+right right", "unfold the branch"),
        ("tree.label", "shift+l", "label the entry"),
        ("tree.times", "shift+t", "show times"),
        ("tree.default", "ctrl+d", "usual entries"),
        ("tree.no_tools", "ctrl+t", "without tool calls"),
        ("tree.user", "ctrl+u", "only what you said"),
        ("tree.labelled", "ctrl+l", "only labelled entries"),
        ("tree.all", "ctrl+a", "all entries"),
        ("tree.filter", "ctrl+o", "next filter"),
        ("tree.copy", "ctrl+y", "copy the text"),
        ("tree.summarise", "ctrl+s", "go there and summarise the branch left"),
        ("tree.fork", "ctrl+f", "new session from before this message"),
        ("tree.rewind", "ctrl+r", "go there and take the files back too"),
    ),
    *_actions(
        "models",
        ("models.save", "ctrl+s", "make it the default"),
        ("models.favourite", "ctrl+f", "into or out of the favourites"),
        ("models.all_favourites", "ctrl+a", "all into the favourites"),
        ("models.no_favourites", "ctrl+x", "no favourites"),
        ("models.provider", "ctrl+p", "the whole provider into or out of the favourites"),
    ),
)
"""The table."""
