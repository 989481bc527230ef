"""Reads the providers and models of ``config.toml``.

``[providers.NAME]`` defines a provider or changes a known one, ``[[providers.NAME.models]]`` its
models; ``[models."PROVIDER/ID"]`` changes facts of a model, ``[models]`` with ``short = "..."``
gives one a further name. What is wrong is named with file, line and key, and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from sloyd.harness.model_tables import ModelFacts, ModelTables, OwnModel
from sloyd.harness.settings_files import LoadedSettings, SettingProblem
from sloyd.llm.providers import PROVIDERS, Provider, find_provider
from sloyd.text.suggestion import suggestion

__all__ = ["QUIRKS", "read_model_tables"]

QUIRKS = frozenset(
    {
        *("assistant_after_tool", "bearer", "budgets", "cache_key", "cache_markers", "efforts"),
        *("extra_body", "id_rule", "max_tokens_field", "replay_reasoning", "send_max_tokens"),
        *("stream_usage", "thinking_format", "unsigned_thinking"),
    }
)
"""What the wires know; each documents its own (a test compares)."""


class _ProviderFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[providers.NAME]``."""

    title: str | None = None
    base_url: str | None = None
    api: str | None = None
    key: str | None = None
    default_model: str | None = None
    headers: dict[str, str] = {}
    quirks: dict[str, Any] = {}
    models: tuple[OwnModel, ...] = ()


def read_model_tables(
    loaded: LoadedSettings,
) -> tuple[ModelTables, tuple[SettingProblem, ...]]:
    """The tables ``providers`` and ``models`` of loaded settings, and what in them was skipped."""
    if not loaded.tables.get("providers") and not loaded.tables.get("models"):
        return ModelTables(), ()
    reader = _Reader(loaded)
    reader.read_providers(loaded.tables.get("providers"))
    reader.read_models(loaded.tables.get("models"))
    tables = ModelTables(
        providers={
            **reader.providers,
            **{k: v for k, v in PROVIDERS.items() if k not in reader.providers},
        },
        keys=reader.keys,
        own=reader.own,
        changes=reader.changes,
        aliases=reader.aliases,
    )
    return tables, tuple(reader.problems)


class _Reader:
    """Reads both tables and collects what is wrong with them."""

    def __init__(self, loaded: LoadedSettings) -> None:
        self.providers: dict[str, Provider] = {}
        self.keys: dict[str, str] = {}
        self.own: dict[str, dict[str, OwnModel]] = {}
        self.changes: dict[str, ModelFacts] = {}
        self.aliases: dict[str, str] = {}
        self.problems: list[SettingProblem] = []
        self._sources = loaded.sources

    def read_providers(self, table: object) -> None:
        for name, value in self._tables("providers", table):
            facts = self._converted(f"providers.{name}", value, _ProviderFacts)
            if facts is None:
                continue
            provider = self._provider(name, facts)
            if provider is None:
                continue
            self.providers[provider.name] = provider
            self.own[provider.name] = {model.id: model for model in facts.models}
            if facts.key is not None:
                self.keys[provider.name] = facts.key

    def _provider(self, name: str, facts: _ProviderFacts) -> Provider | None:
        known = find_provider(name)
        said = [(facts.api, facts.quirks), *((m.api, m.quirks) for m in facts.models)]
        if not all(self._is_usable(f"providers.{name}", *part) for part in said):
            return None
        if known is None:
            if not facts.base_url:
                self._problem(f"providers.{name}", "base_url is missing: where is that provider?")
                return None
            return Provider(
                name=name,
                title=facts.title or name,
                api=facts.api or "openai-chat",
                base_url=facts.base_url.strip().rstrip("/"),
                default_model=facts.default_model or next((m.id for m in facts.models), ""),
                needs_key=facts.key is not None,
                headers=facts.headers,
                quirks=facts.quirks,
            )
        changed = msgspec.structs.replace(
            known,
            title=facts.title or known.title,
            api=facts.api or known.api,
            default_model=facts.default_model or known.default_model,
            headers={**known.headers, **facts.headers},
            quirks={**known.quirks, **facts.quirks},
        )
        if facts.base_url is None:
            return changed
        # Another server under a known name: what holds at the provider's own need not hold there.
        return msgspec.structs.replace(
            changed,
            base_url=facts.base_url.strip().rstrip("/"),
            own_api="",
            endpoints={},
            needs_key=False,
        )

    def read_models(self, table: object) -> None:
        if isinstance(table, dict):
            self.aliases = {name: value for name, value in table.items() if isinstance(value, str)}
            table = {name: value for name, value in table.items() if name not in self.aliases}
        for name, value in self._tables("models", table):
            front, slash, rest = name.partition("/")
            provider = self.providers.get(front) or find_provider(front)
            if not slash or provider is None:
                self._problem(
                    f"models.{name}",
                    'the name must be "PROVIDER/ID" with a known provider,'
                    ' or stand for another: short = "PROVIDER/ID"',
                )
                continue
            facts = self._converted(f"models.{name}", value, ModelFacts)
            if facts is not None and self._is_usable(f"models.{name}", facts.api, facts.quirks):
                self.changes[f"{provider.name}/{rest}"] = facts

    def _tables(self, section: str, table: object) -> Iterator[tuple[str, dict[str, Any]]]:
        if table is None:
            return
        if not isinstance(table, dict):
            self._problem(section, "must be a table")
            return
        for name, value in table.items():
            if isinstance(value, dict):
                yield name, value
            else:
                self._problem(f"{section}.{name}", f"must be a table: [{section}.{name}]")

    def _converted(self, key: str, value: dict[str, Any], to: type[Any]) -> Any:
        try:
            return msgspec.convert(value, to)
        except msgspec.ValidationError as error:
            words, _, place = str(error).partition(" - at `$")
            unknown = re.search(r"unknown field `(.+?)`", words)
            if unknown:
                names = [*_fields(to), *_fields(OwnModel)]
                words = f"unknown key {unknown.group(1)}{suggestion(unknown.group(1), names)}"
            self._problem(f"{key}{place.rstrip('`')}", words)
            return None

    def _is_usable(self, key: str, api: str | None, quirks: Iterable[str]) -> bool:
        from sloyd.errors import UsageError
        from sloyd.llm.wires import wire_for

        if api is not None:
            try:
                wire_for(api)
            except UsageError as error:
                self._problem(f"{key}.api", str(error))
                return False
        for quirk in quirks:
            if quirk not in QUIRKS:
                self._problem(f"{key}.quirks", f"unknown quirk {quirk}{suggestion(quirk, QUIRKS)}")
                return False
        return True

    def _problem(self, key: str, message: str) -> None:
        section, _, rest = key.partition(".")
        names = (name for name in self._sources if _is_under(key, name))
        source = next(names, None)
        path = self._sources[source] if source else Path("config.toml")
        line = _line_of(path, section, source.partition(".")[2] if source else rest)
        self.problems.append(SettingProblem(path, line, f"{key}: {message}; skipped"))


def _is_under(key: str, name: str) -> bool:
    return key == name or key.startswith((f"{name}.", f"{name}["))


def _fields(struct: type[Any]) -> list[str]:
    return [known.name for known in msgspec.structs.fields(struct)]


def _line_of(path: Path, section: str, name: str) -> int | None:
    """The line of the file on which a table, or a key of its section, begins."""
    header = re.compile(rf"\s*\[+\s*{section}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*[\].]")
    key = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return None
    for pattern in (header, key):
        for number, line in enumerate(lines, 1):
            if pattern.match(line):
                return number
    return None
