"""Choosing the model that answers, and the models that one cycles through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from sloyd.errors import SloydError
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.model_tables import ModelTables
from sloyd.llm.models import ModelInfo
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import ModelPicked
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

if TYPE_CHECKING:
    from sloyd.harness.coding_agent import CodingAgent
    from sloyd.llm.local_servers import LocalServer

__all__ = ["ModelPicker", "OfferedModel", "offered", "price_text", "window_text"]


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model that may be chosen.

    Attributes:
        base_url: of a server on this machine.
        access: ``key``, ``no key`` or ``local``.
    """

    provider: str
    id: str
    info: ModelInfo
    access: str
    base_url: str | None = None

    @property
    def name(self) -> str:
        """``provider/id``."""
        return f"{self.provider}/{self.id}"

    @property
    def choice(self) -> ModelChoice:
        """What names it for `CodingAgent.set_model`."""
        return ModelChoice(model=self.id, provider=self.provider, base_url=self.base_url)


def offered(agent: CodingAgent) -> list[OfferedModel]:
    """All known models; those of providers with a key come first."""
    tables = agent.resources.models or ModelTables()
    keyed = {
        name
        for name, provider in tables.providers.items()
        if tables.has_key(provider, agent.variables)
    }
    providers = sorted(
        (provider for provider in tables.providers.values()),
        key=lambda provider: provider.name not in keyed,
    )
    models = []
    for candidate in tables.candidates(providers):
        provider = tables.providers[candidate.provider]
        access = "key" if provider.name in keyed else "no key" if provider.needs_key else "local"
        info = tables.info(provider, candidate.id)
        models.append(OfferedModel(provider.name, candidate.id, info, access))
    return models


def window_text(tokens: int) -> str:
    """A context window as people say it: 200k, 1M."""
    return f"{tokens / 1e6:.3g}M" if tokens >= 1_000_000 else f"{tokens / 1000:.0f}k"


def price_text(info: ModelInfo) -> str:
    """Dollars for a million tokens of input and of output; empty when none are known."""
    prices = info.prices
    return f"${prices.input:g} / ${prices.output:g}" if prices.input or prices.output else ""


class ModelPicker(FuzzyScreen[OfferedModel, ModelPicked]):
    """All models that are known, and those of servers on this machine."""

    CONTEXTS = ("list", "models")

    def __init__(self, agent: CodingAgent, keys: KeyMap, query: str = "") -> None:
        hint = (
            f"{keys.shown('models.save')} make it the default    "
            f"{keys.shown('models.favourite')} favourite ★, "
            f"{keys.shown('models.provider')} all of its provider, "
            f"{keys.shown('models.all_favourites')} all, {keys.shown('models.no_favourites')} none"
        )
        super().__init__(keys, title="Model", query=query, hint=hint)
        self._agent = agent
        self._models = offered(agent)
        patterns = agent.settings.model.favourites
        self._favourites = dict.fromkeys(
            model.name
            for model in self._models
            if any(
                fnmatchcase(name, pattern)
                for pattern in patterns
                for name in (model.name, model.id)
            )
        )
        # A favourite that no list knows stays one.
        self._unlisted = [pattern for pattern in patterns if not self._is_listed(pattern)]

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._add_local, thread=True)

    def _is_listed(self, pattern: str) -> bool:
        return "*" in pattern or any(pattern in (model.name, model.id) for model in self._models)

    def _add_local(self) -> None:
        from sloyd.llm.local_servers import find_servers

        servers = find_servers(self._agent.variables)
        if servers:
            self.app.call_from_thread(self._show_local, servers)

    def _show_local(self, servers: Sequence[LocalServer]) -> None:
        tables = self._agent.resources.models or ModelTables()
        known = {model.name for model in self._models}
        found = []
        for server in servers:
            provider = tables.find_provider(server.provider.name) or server.provider
            for model_id in server.models:
                if f"{provider.name}/{model_id}" in known:
                    continue
                info = tables.info(provider, model_id, base_url=server.base_url)
                elsewhere = None if server.base_url == provider.base_url else server.base_url
                found.append(OfferedModel(provider.name, model_id, info, "local", elsewhere))
        self._models = [*found, *self._models]
        self.fill(stay=True)

    def all_rows(self) -> Sequence[Row[OfferedModel]]:
        present = self._present()
        rows = []
        for model in self._models:
            marks = "●" if model.name == present else " "
            marks += "★" if model.name in self._favourites else " "
            is_known = model.info.prices.input or model.base_url is None
            window = window_text(model.info.context_window) if is_known else ""
            facts = (window, price_text(model.info), model.access)
            style = "dim" if model.access == "no key" else ""
            label = f"{marks} {model.name}"
            rows.append(
                Row(model, label, model.info.name, tail="  ".join(filter(None, facts)), style=style)
            )
        return rows

    def first_cursor(self, rows: Sequence[Row[OfferedModel]]) -> int:
        present = self._present()
        return next((i for i, row in enumerate(rows) if row.value.name == present), 0)

    def choose(self, row: Row[OfferedModel]) -> None:
        self.dismiss(ModelPicked(row.value.choice))

    def act(self, action: str) -> bool:
        row = self.chosen
        if action == "models.all_favourites":
            self._set_favourites([model.name for model in self._matching_models()])
        elif action == "models.no_favourites":
            self._unlisted = []
            self._set_favourites([])
        elif row is None:
            return action.startswith("models.")
        elif action == "models.save":
            self._save("model.default", row.value.name)
            self.dismiss(ModelPicked(row.value.choice, save=True))
        elif action == "models.favourite":
            self._toggle([row.value.name])
        elif action == "models.provider":
            provider = row.value.provider
            self._toggle([model.name for model in self._models if model.provider == provider])
        else:
            return False
        return True

    def _matching_models(self) -> list[OfferedModel]:
        return [row.value for row in self.list.rows]

    def _toggle(self, names: Sequence[str]) -> None:
        if all(name in self._favourites for name in names):
            self._set_favourites([name for name in self._favourites if name not in names])
        else:
            self._set_favourites([*self._favourites, *names])

    def _set_favourites(self, names: Sequence[str]) -> None:
        """Keep the favourites in the configuration, and let them count at once."""
        self._favourites = dict.fromkeys(names)
        chosen = (*self._favourites, *self._unlisted)
        agent = self._agent
        self._save("model.favourites", list(chosen) or None)
        replace = msgspec.structs.replace
        loaded = agent.resources.loaded
        model = replace(loaded.settings.model, favourites=chosen)
        settings = replace(loaded.settings, model=model)
        agent.resources = replace(agent.resources, loaded=replace(loaded, settings=settings))
        self.fill(stay=True)

    def _save(self, name: str, value: object) -> None:
        from sloyd.harness.settings_edit import change_setting

        try:
            change_setting(self._agent.home / "config.toml", name, value)
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False)

    def _present(self) -> str:
        info = self._agent.model.info
        return f"{info.provider}/{info.id}"
