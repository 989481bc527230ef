"""A session: a conversation that lasts, and everything that was done beside it.

`Session` joins a store (where the lines are), a tree (how entries follow each other) and the typed
entries. Entries are read when they are needed and appended one at a time; an entry is on disk
before `append` returns. All methods are synchronous: an append costs some tenths of a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import msgspec

from sloyd.errors import SessionError
from sloyd.llm.messages import now_ms
from sloyd.sessions.codec import decode_entry, encode_entry, encode_header, iso_from_ms, patch_line
from sloyd.sessions.context import SessionContext, build_context
from sloyd.sessions.entries import (
    FORMAT_VERSION,
    CustomEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    SessionHeader,
    SessionInfoEntry,
    SessionMessage,
    UnknownEntry,
    UnknownMessage,
)
from sloyd.sessions.headers import new_header
from sloyd.sessions.names import new_entry_id, project_directory, session_file_name
from sloyd.sessions.scan import Node, Problem, Scan, decode_header, scan_lines
from sloyd.sessions.store import FileStore, MemoryStore, Store, read_lines
from sloyd.sessions.tree import Tree

__all__ = ["OnConflict", "Session"]

OnConflict: TypeAlias = Literal["refuse", "fork", "read"]
"""What opening does when another process has the session: fail, go on in a copy, or only read."""

_CWD_ENTRY = "sloyd.cwd"
_PLACE_ENTRY = "sloyd.place"
_CACHED_ENTRIES = 4096
_IN_PLACE = object()


class Session:
    """One session. Made by `create`, `in_memory`, `open` and `sloyd.sessions.forks`.

    Attributes:
        notices: what a person should know about how the session was opened or has moved on.
    """

    def __init__(self, store: Store, scan: Scan, *, on_conflict: OnConflict = "refuse") -> None:
        self._store = store
        self._scan = scan
        self._tree = Tree(scan.nodes, scan.last_id)
        self._on_conflict = on_conflict
        self._cache: dict[str, Entry] = {}
        self._labels: dict[str, str] | None = None
        self._name: str | object | None = _IN_PLACE
        self._cwd: str | None = None
        self.notices: list[str] = []

    # Making and opening

    @classmethod
    def create(
        cls,
        sessions: Path,
        cwd: str,
        *,
        session_id: str | None = None,
        parent_session: str | None = None,
        directory: Path | None = None,
        durable: bool = False,
        on_conflict: OnConflict = "fork",
    ) -> Session:
        """A new session of a working directory, under ``<SLOYD_HOME>/sessions``.

        Its file is made when the first message arrives; ``directory`` is where, if not in the
        working directory's own folder. Raises `SessionError` for an id that cannot be one.
        """
        header = new_header(cwd, session_id, parent_session)
        folder = directory or project_directory(sessions, cwd)
        path = folder / session_file_name(header.id, header.timestamp)
        store = FileStore.new(path, durable=durable)
        return cls._begin(store, header, on_conflict)

    @classmethod
    def in_memory(cls, cwd: str, *, session_id: str | None = None) -> Session:
        """A session without a file."""
        return cls._begin(MemoryStore(), new_header(cwd, session_id, None), "refuse")

    @classmethod
    def _begin(cls, store: Store, header: SessionHeader, on_conflict: OnConflict) -> Session:
        line = encode_header(header)
        store.append(line, save=False)
        scan = Scan(header=header, header_line=line, end=len(line) + 1, lines=1)
        return cls(store, scan, on_conflict=on_conflict)

    @classmethod
    def open(
        cls, path: Path, *, on_conflict: OnConflict = "refuse", durable: bool = False
    ) -> Session:
        """A session that exists.

        With ``on_conflict`` ``read`` the session is opened for reading only, whoever has it. With
        ``fork`` a session that another process has goes on in a new file beside it, and a notice
        says so. Raises `SessionError` for a file that is no session, or cannot be read, or, with
        ``refuse``, is in use. A file that is refused is left as it is.
        """
        name = str(path)
        first = next((line for line in read_lines(path) if line.strip(b"\xef\xbb\xbf \r\n")), b"")
        if not first:
            raise SessionError(f"{name} is empty, not a session file")
        version = decode_header(first.strip(), name).version
        if version > FORMAT_VERSION and on_conflict != "read":
            raise SessionError(
                f"{name} has the session format version {version}; "
                f"this program writes up to {FORMAT_VERSION}"
            )
        store = FileStore(path, durable=durable)
        held = None if on_conflict == "read" else store.take()
        if held is not None and on_conflict == "refuse":
            raise SessionError(
                f"the session {name} is in use by {held}; close it there, or fork the session"
            )
        try:
            if held is not None or on_conflict == "read":
                store.look()
            session = cls(store, _read(store, path, version), on_conflict=on_conflict)
        except BaseException:
            store.close()
            raise
        if held is not None:
            session._go_on_elsewhere(f"the session {name} is in use by {held}")
        return session

    def sync(self) -> None:
        """Wait until everything that was appended has reached the disk.

        An appended entry survives the end of this process whenever that comes; only after this
        does it survive a loss of power too. Waiting after each entry would double the time of a
        run of short turns. Raises `SessionError`.
        """
        if isinstance(self._store, FileStore):
            self._store.sync()

    def close(self) -> None:
        """Give up the file and its lease. Reading and appending fail afterwards."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # What it is

    @property
    def id(self) -> str:
        return self._scan.header.id

    @property
    def header(self) -> SessionHeader:
        return self._scan.header

    @property
    def path(self) -> Path | None:
        """The file, which may not exist yet; None in memory."""
        return self._store.path

    @property
    def is_saved(self) -> bool:
        """Whether there is a file that holds all of it."""
        return isinstance(self._store, FileStore) and self._store.saved

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The lines that could not be used as they stand, with their numbers."""
        return tuple(self._scan.problems)

    @property
    def tree(self) -> Tree:
        """The entries' places."""
        return self._tree

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._tree.leaf_id

    @property
    def cwd(self) -> str:
        """The working directory: where the session began, or was moved to."""
        if self._cwd is None:
            self._cwd = self.header.cwd
            for node in reversed(list(self._tree.nodes())):
                if node.type == "custom" and _CWD_ENTRY.encode() in self.raw(node.id):
                    entry = self.entry(node.id)
                    if isinstance(entry, CustomEntry) and entry.custom_type == _CWD_ENTRY:
                        self._cwd = str(entry.data)
                        break
        return self._cwd

    @property
    def name(self) -> str | None:
        """The name that a person gave it."""
        if self._name is _IN_PLACE:
            self._name = None
            for node in self._tree.nodes():
                if node.type == "session_info":
                    entry = self.entry(node.id)
                    if isinstance(entry, SessionInfoEntry):
                        self._name = entry.name or None
        return self._name if isinstance(self._name, str) else None

    @property
    def labels(self) -> dict[str, str]:
        """Labels by entry id, in all branches."""
        if self._labels is None:
            self._labels = {}
            for node in self._tree.nodes():
                if node.type == "label":
                    self._note_label(self.entry(node.id))
        return dict(self._labels)

    # Reading

    def raw(self, entry_id: str) -> bytes:
        """The JSON of an entry as it is in the file, with every field that we do not know."""
        node = self._tree.node(entry_id)
        line = self._store.read(node.offset, node.length)
        return patch_line(line, parentId=node.parent_id) if node.relinked else line

    def entry(self, entry_id: str) -> Entry:
        """A typed entry. Raises `SessionError` when there is none of that id."""
        return self._load(self._tree.node(entry_id))

    def entries(self) -> Iterator[Entry]:
        """All entries in the order of the file."""
        return (self._load(node) for node in list(self._tree.nodes()))

    def branch(self) -> Iterator[Entry]:
        """The entries of the active branch, from the root to the leaf."""
        return (self._load(node) for node in self._tree.branch())

    def raw_lines(self) -> bytes:
        """The whole session as JSONL: every line that there is, the bad ones too, as it is."""
        places = [(node.offset, node.length) for node in self._tree.nodes()]
        places += [(problem.offset, problem.length) for problem in self._scan.problems]
        lines = [self._scan.header_line]
        lines += [self._store.read(*place) for place in sorted(set(places))]
        return b"\n".join(lines) + b"\n"

    def bad_line(self, problem: Problem) -> bytes:
        """The bytes of a line that could not be used."""
        return self._store.read(problem.offset, problem.length)

    def context(self) -> SessionContext:
        """What the active branch gives to a model request."""
        return build_context(self._tree.branch(), self._load)

    def state(self, custom_type: str) -> Any:
        """The data of the latest ``custom`` entry of a type on the active branch; None if none."""
        wanted = custom_type.encode()
        for node in reversed(self._tree.branch()):
            if node.type == "custom" and wanted in self.raw(node.id):
                entry = self._load(node)
                if isinstance(entry, CustomEntry) and entry.custom_type == custom_type:
                    return entry.data
        return None

    def _load(self, node: Node) -> Entry:
        entry = self._cache.get(node.id)
        if entry is None:
            entry = decode_entry(self._store.read(node.offset, node.length))
            if entry.parent_id != node.parent_id:
                entry = msgspec.structs.replace(entry, parent_id=node.parent_id)
            self._remember(entry)
        return entry

    def _remember(self, entry: Entry) -> None:
        if len(self._cache) >= _CACHED_ENTRIES:
            del self._cache[next(iter(self._cache))]
        self._cache[entry.id] = entry

    # Appending

    def append(self, entry: Entry) -> Entry:
        """Add an entry behind the leaf; it is on disk when this returns, and the new leaf.

        Fills in ``parent_id``, and ``id`` and ``timestamp`` where they are empty. Raises
        `SessionError` when it could not be written; the session is as it was then.
        """
        return self._append(entry, self.leaf_id)

    def append_message(self, message: SessionMessage) -> Entry:
        """Add a message."""
        return self.append(MessageEntry(message=message))

    def set_state(self, custom_type: str, data: Any) -> Entry:
        """Keep data of an extension, or of Sloyd, on this branch; `state` gives it back."""
        return self.append(CustomEntry(custom_type=custom_type, data=data))

    def set_label(self, entry_id: str, label: str | None) -> Entry:
        """Put a bookmark on an entry, or take it off."""
        self._tree.node(entry_id)
        known = self.labels
        entry = self.append(LabelEntry(target_id=entry_id, label=label or None))
        self._labels = known
        self._note_label(entry)
        return entry

    def set_name(self, name: str | None) -> Entry:
        """Name the session for people."""
        tidy = " ".join((name or "").split()) or None
        entry = self.append(SessionInfoEntry(name=tidy))
        self._name = tidy
        return entry

    def move_to(self, cwd: str) -> Entry:
        """Say that the session's working directory is another one from now on."""
        entry = self.append(CustomEntry(custom_type=_CWD_ENTRY, data=cwd))
        self._cwd = cwd
        return entry

    def navigate(self, entry_id: str | None) -> None:
        """Make an entry the leaf, so that the next one follows it; None is before the first.

        The move is kept on disk, by an entry that other readers ignore.
        """
        if entry_id is not None:
            self._tree.node(entry_id)
        if entry_id != self.leaf_id:
            data = {"from": self.leaf_id}
            self._append(CustomEntry(custom_type=_PLACE_ENTRY, data=data), entry_id)

    def append_at(self, entry: Entry, parent_id: str | None) -> Entry:
        """Add an entry behind any other (a branch summary, as a rule); it is the new leaf."""
        if parent_id is not None:
            self._tree.node(parent_id)
        return self._append(entry, parent_id)

    def _append(self, entry: Entry, parent_id: str | None) -> Entry:
        self._notice_other_writers()
        whole = msgspec.structs.replace(
            entry,
            id=entry.id or self.new_id(),
            parent_id=parent_id,
            timestamp=entry.timestamp or iso_from_ms(now_ms()),
        )
        message = whole.message if isinstance(whole, MessageEntry) else None
        role = "" if message is None else _role(message)
        line = encode_entry(whole)
        save = (message is not None and role != "system") or self.is_saved
        offset = self._store.append(line, save=save)
        kind = whole.kind if isinstance(whole, UnknownEntry) else _tag(whole)
        self._scan.lines += 1
        node = Node(whole.id, parent_id, kind, role, offset, len(line), self._scan.lines)
        self._scan.add(node)
        self._tree.added(node)
        self._remember(whole)
        return whole

    def new_id(self) -> str:
        """An entry id that is free."""
        return new_entry_id(self._scan.nodes)

    def take_branch(self, source: Session, leaf_id: str | None) -> None:
        """Make this new session a copy of the branch of another one that ends at ``leaf_id``.

        Entries keep their ids and all of their JSON; labels and the name are taken along from
        wherever they stand. Raises `SessionError` when it cannot be written; no file stays then.
        """
        try:
            path = source.tree.path(leaf_id)
            self._copy_entries(source, path)
            taken = {node.id for node in path}
            for entry_id, label in source.labels.items():
                if entry_id in taken and self.labels.get(entry_id) != label:
                    self.set_label(entry_id, label)
            if source.name and self.name != source.name:
                self.set_name(source.name)
        except SessionError:
            self.close()
            if self.path is not None:
                self.path.unlink(missing_ok=True)
            raise

    def _copy_entries(self, source: Session, nodes: Sequence[Node]) -> None:
        store = self._store
        was_durable = isinstance(store, FileStore) and store.durable
        if isinstance(store, FileStore):
            store.durable = False
        for node in nodes:
            line = source.raw(node.id)
            offset = store.append(line, save=self.is_saved or node.role not in {"", "system"})
            self._scan.lines += 1
            place = (offset, len(line), self._scan.lines)
            copied = Node(node.id, node.parent_id, node.type, node.role, *place)
            self._scan.add(copied)
            self._tree.added(copied)
        if isinstance(store, FileStore) and was_durable:
            store.durable = True
            store.sync()

    def _note_label(self, entry: Entry) -> None:
        assert self._labels is not None
        if isinstance(entry, LabelEntry):
            self._labels.pop(entry.target_id, None)
            if entry.label:
                self._labels[entry.target_id] = entry.label

    def _notice_other_writers(self) -> None:
        try:
            self._store.check()
        except SessionError as error:
            if self._on_conflict != "fork":
                raise
            self._go_on_elsewhere(str(error))

    def _go_on_elsewhere(self, reason: str) -> None:
        old = self._store
        assert old.path is not None
        folder = old.path.parent
        copy = Session.create(folder, self.cwd, parent_session=str(old.path), directory=folder)
        copy.take_branch(self, self.leaf_id)
        old.close()
        self._store, self._scan, self._tree = copy._store, copy._scan, copy._tree
        self.notices.append(f"{reason}; going on in a copy: {self.path}")


def _read(store: FileStore, path: Path, version: int) -> Scan:
    if version >= 2:
        scan = scan_lines(read_lines(path), str(path))
        store.settle(scan.end, whole=scan.whole)
        return scan
    from sloyd.sessions.migrate import migrate_lines

    store.settle(path.stat().st_size, whole=True)
    lines = list(migrate_lines(read_lines(path)))
    store.wait_with(b"".join(lines))
    return scan_lines(lines, str(path))


def _tag(entry: Entry) -> str:
    return str(type(entry).__struct_config__.tag)


def _role(message: SessionMessage) -> str:
    if isinstance(message, UnknownMessage):
        return message.role
    return str(type(message).__struct_config__.tag)
