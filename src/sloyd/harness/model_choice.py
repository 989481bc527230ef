"""From what a person says about a model to the thing that answers, with its key and its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sloyd.errors import ProviderError, UsageError
from sloyd.harness.model_finding import Finder
from sloyd.harness.model_tables import ModelTables
from sloyd.harness.settings import Settings
from sloyd.llm.credentials import key_from, secret_of
from sloyd.llm.models import THINKING_LEVELS, Model, ModelInfo, ThinkingLevel
from sloyd.llm.providers import Provider

__all__ = ["ModelChoice", "choose_model"]

_SCRIPTED = "scripted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model as named on a command line.

    Attributes:
        model: an id, ``provider/id`` or part of a name, each with ``:level`` behind it if wanted;
            or ``scripted:FILE``.
        provider: the provider's name; it decides which API is spoken.
        base_url: another server that speaks the same API.
        api_key: the key, before configuration and environment.
        record: a file that is to keep the traffic with the provider.
        replay: a file of recorded traffic that is to be played; everything else is ignored.
        cwd: the directory that the conversation is about, whose name does not count in recorded
            requests; by default the current one.
        notice: is told when something was chosen that nobody has named. Without it, nothing is.
    """

    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    record: str | Path | None = None
    replay: str | Path | None = None
    cwd: str | Path | None = None
    notice: Callable[[str], None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing says which model answers."""
        return not (self.model or self.provider or self.base_url or self.api_key or self.replay)


def choose_model(
    choice: ModelChoice,
    variables: Mapping[str, str],
    settings: Settings,
    tables: ModelTables | None = None,
) -> tuple[Model, ThinkingLevel | None]:
    """The model, and the thinking level that its name asked for.

    Without a provider the name decides, then the settings, then the first provider that has a key.
    Raises `UsageError` for a provider that is not known or a name that means several models, and
    `ProviderError` when there is no key.
    """
    if choice.replay is not None:
        from sloyd.llm.recorded import RecordedModel

        return RecordedModel(choice.replay, cwd=choice.cwd), None
    return _Chooser(Finder(choice, variables, settings, tables or ModelTables())).model()


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Makes the model that was found."""

    finder: Finder

    @property
    def _choice(self) -> ModelChoice:
        return self.finder.choice

    def model(self) -> tuple[Model, ThinkingLevel | None]:
        named = self._choice.model or self.finder.settings.model.default
        if named and named.startswith(_SCRIPTED):
            from sloyd.llm.wires.scripted import ScriptedModel

            return ScriptedModel(named.removeprefix(_SCRIPTED)), None
        name, level = self._unfolded(named)
        provider, model_id = self.finder.find(name)
        return self._made(provider, model_id), level

    def _unfolded(self, named: str | None) -> tuple[str | None, ThinkingLevel | None]:
        """The name without its level, and what it is short for."""
        name, level = _parted(named)
        meant, usual = _parted(self.finder.tables.aliases.get(name or "", name))
        return meant or None, level or usual

    def _made(self, provider: Provider, model_id: str) -> Model:
        base_url = self.finder.base_url(provider)
        key = self._key(provider)
        if key is None and base_url is None and provider.needs_key:
            from sloyd.harness.model_texts import no_key_text

            raise ProviderError(no_key_text(provider), problem="no-key")
        if not base_url and not provider.base_url:
            from sloyd.harness.model_texts import where_text

            raise UsageError(where_text(provider))
        model_id = model_id or provider.default_model
        if not model_id:
            model_id = self._only_model(provider, base_url or provider.base_url, key)
        info = self.finder.tables.info(
            provider, model_id, base_url=base_url, ask=None if provider.needs_key else self._ask
        )
        info = self._resolved(info)
        from sloyd.llm.http_model import HttpModel

        model = HttpModel(info, api_key=key)
        if self._choice.record is None:
            return model
        from sloyd.llm.recorded import record

        return record(model, self._choice.record, cwd=self._choice.cwd)

    def _ask(self, info: ModelInfo) -> ModelInfo:
        """What a server on this machine says of its model."""
        from sloyd.llm.local_servers import described

        return described(info, self._choice.api_key)

    def _only_model(self, provider: Provider, base_url: str, key: str | None) -> str:
        from sloyd.llm.local_servers import LocalServer, offered_models

        offered = offered_models(base_url, key)
        if len(offered) == 1:
            return offered[0]
        if not offered:
            raise UsageError(f"say which model of {provider.name} to use: --model NAME")
        from sloyd.harness.model_texts import no_model_text

        raise UsageError(no_model_text([LocalServer(provider, base_url, offered)]))

    def _key(self, provider: Provider) -> str | None:
        """By flag, configuration, environment, in this order."""
        if self._choice.api_key is not None and self._choice.api_key.strip():
            return self._choice.api_key.strip()
        source = self.finder.tables.keys.get(provider.name)
        if source is None:
            return key_from(provider, self.finder.variables)
        try:
            return secret_of(source, self.finder.variables)
        except ProviderError as error:
            raise ProviderError(f"{provider.title}: {error}", problem="no-key") from error

    def _resolved(self, info: ModelInfo) -> ModelInfo:
        """The same with the values of its headers, which may be secrets elsewhere."""
        if not info.headers:
            return info
        headers = {
            name: secret_of(value, self.finder.variables) for name, value in info.headers.items()
        }
        return msgspec.structs.replace(info, headers=headers)


def _parted(name: str | None) -> tuple[str | None, ThinkingLevel | None]:
    """A model's name and the level behind its last colon; other colons belong to the name."""
    front, colon, last = (name or "").rpartition(":")
    if colon and last in THINKING_LEVELS:
        return front, last
    return name, None
