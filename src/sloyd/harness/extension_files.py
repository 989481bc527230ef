"""From a place to a ``setup`` function: finding extensions, and importing them anew each time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import msgspec

from sloyd.errors import UsageError

__all__ = [
    "ExtensionSource",
    "fault_place",
    "find_extensions",
    "load_setup",
    "named_extension",
    "unique",
]


class ExtensionSource(msgspec.Struct, frozen=True):
    """Where an extension is: a file, or a module with the function in it.

    Attributes:
        name: what it is called in messages, and its state in the session.
        path: the Python file; None for an installed module.
        module: ``module`` or ``module:function`` of an installed one.
    """

    name: str
    path: Path | None = None
    module: str = ""

    @property
    def origin(self) -> str:
        """The place, for people."""
        return str(self.path) if self.path is not None else self.module


def find_extensions(root: Path) -> Iterator[ExtensionSource]:
    """The extensions of a directory: its Python files, and its packages."""
    try:
        children = sorted(root.iterdir())
    except OSError:
        return
    for child in children:
        if child.name.startswith((".", "_")):
            continue
        if child.suffix == ".py" and child.is_file():
            yield ExtensionSource(child.stem, child.absolute())
        elif (child / "__init__.py").is_file():
            yield ExtensionSource(child.name, (child / "__init__.py").absolute())


def named_extension(named: str | Path) -> ExtensionSource:
    """The extension that a person names: a file, a package's directory, or an installed module.

    Raises `UsageError` when there is nothing of the kind.
    """
    path = Path(named).expanduser()
    if path.is_dir():
        if not (path / "__init__.py").is_file():
            raise UsageError(f"--extension: {named} holds no __init__.py")
        return ExtensionSource(path.resolve().name, path.absolute() / "__init__.py")
    if path.is_file():
        return ExtensionSource(path.stem, path.absolute())
    module = str(named).partition(":")[0]
    if all(part.isidentifier() for part in module.split(".")):
        import importlib.util

        try:
            known = importlib.util.find_spec(module) is not None
        except (ImportError, ValueError):
            known = False
        if known:
            return ExtensionSource(module.rpartition(".")[2], module=str(named))
    raise UsageError(f"--extension: there is no file, directory or module {named}")


def load_setup(source: ExtensionSource) -> Callable[[Any], Any]:
    """Import the extension and give its ``setup``. What its code raises goes through.

    Raises `UsageError` when it has none.
    """
    if source.path is not None:
        module: Any = _load(source.path)
        function = getattr(module, "setup", None)
    else:
        name, _, attribute = source.module.partition(":")
        module = importlib.import_module(name)
        function = getattr(module, attribute or "setup", None)
        function = getattr(function, "setup", function)
    if not callable(function):
        raise UsageError(f"{source.origin}: has no function setup(api)")
    setup: Callable[[Any], Any] = function
    return setup


def fault_place(error: BaseException, source: ExtensionSource) -> str:
    """``file:line`` of an error in an extension's code, or its place when the code has no part."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    inside = None
    folder = _folder(source)
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name == folder or name.startswith(f"{folder}/"):
            inside = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return inside or source.origin


def _folder(source: ExtensionSource) -> str:
    path = source.path
    if path is None:
        module = sys.modules.get(source.module.partition(":")[0])
        path = Path(getattr(module, "__file__", None) or source.module)
    return str(path.parent if path.name == "__init__.py" else path)


class _FreshLoader(SourceFileLoader):
    """Compiles the file as it is now: a cache goes by size and second, an editor is quicker."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _load(path: Path) -> ModuleType:
    from zlib import crc32

    is_package = path.name == "__init__.py"
    stem = path.parent.name if is_package else path.stem
    name = f"sloyd_extension_{stem.replace('-', '_')}_{crc32(str(path).encode()):08x}"
    _forget(name)
    spec = spec_from_file_location(
        name,
        path,
        loader=_FreshLoader(name, str(path)),
        submodule_search_locations=[str(path.parent)] if is_package else None,
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        _forget(name)
        raise
    return module


def _forget(name: str) -> None:
    for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
        del sys.modules[known]


def unique(sources: Sequence[ExtensionSource]) -> list[ExtensionSource]:
    """Each extension once, however many ways lead to it."""
    found: dict[str, ExtensionSource] = {}
    for source in sources:
        key = str(source.path.resolve()) if source.path is not None else source.module
        found.setdefault(key, source)
    return list(found.values())
