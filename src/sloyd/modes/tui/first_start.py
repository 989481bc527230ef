"""The first start: there is no model to talk to, so one is chosen here and kept in the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import work

from sloyd.errors import SloydError
from sloyd.harness.home import sloyd_home
from sloyd.harness.model_choice import ModelChoice
from sloyd.harness.settings import Settings
from sloyd.harness.settings_edit import change_setting
from sloyd.llm.providers import PROVIDERS, Provider
from sloyd.modes.tui.key_store import keep_in_file, keep_in_keyring, keyring_name, set_provider
from sloyd.modes.tui.keys import KeyMap
from sloyd.modes.tui.messages import ModelPicked
from sloyd.modes.tui.pickers.dialogs import InputDialog, SelectDialog
from sloyd.modes.tui.pickers.fuzzy_screen import FuzzyScreen
from sloyd.modes.tui.pickers.row_list import Row

if TYPE_CHECKING:
    from sloyd.llm.local_servers import LocalServer

__all__ = ["DEMO", "FirstStart"]

DEMO = "demo"
"""The model of the choice that means: show the demo, keep nothing."""

_INTRO = (
    "Welcome to Sloyd. It needs a model to talk to: one of a provider that you have a key of,\n"
    "or one on this machine. What you choose is kept in {config}."
)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to a model."""

    kind: Literal["local", "provider", "server", "demo"]
    provider: Provider | None = None
    model: str = ""
    base_url: str | None = None


class FirstStart(FuzzyScreen[_Way, ModelPicked]):
    """Leads to a model. What was chosen is in ``config.toml`` when the screen is left.

    A key that was typed is never shown. Where the person wants it kept nowhere, the choice carries
    it. The demo is the choice of the model `DEMO`.
    """

    def __init__(
        self,
        settings: Settings,
        keys: KeyMap | None = None,
        *,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._variables = os.environ if variables is None else variables
        self._config: Path = sloyd_home(self._variables) / "config.toml"
        super().__init__(keys or KeyMap(), title=_INTRO.format(config=self._config))
        self._settings = settings
        self._servers: Sequence[LocalServer] = ()
        self._is_looking = True

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._look_for_servers, thread=True)

    def _look_for_servers(self) -> None:
        from sloyd.llm.local_servers import find_servers

        servers = find_servers(self._variables)
        self.app.call_from_thread(self._show_servers, servers)

    def _show_servers(self, servers: Sequence[LocalServer]) -> None:
        self._servers = servers
        self._is_looking = False
        self.fill(stay=bool(self.input.value))

    def all_rows(self) -> Sequence[Row[_Way]]:
        rows = [
            Row(
                _Way("local", server.provider, model, server.base_url),
                f"{server.provider.title}: {model}",
                "on this machine, no key needed",
            )
            for server in self._servers
            for model in server.models
        ]
        rows += [
            Row(
                _Way("provider", provider, provider.default_model),
                provider.title,
                f"{provider.default_model}, with a key from {provider.keys_url}",
            )
            for provider in PROVIDERS.values()
            if provider.needs_key and not provider.models_of
        ]
        other = "looking for servers on this machine" if self._is_looking else "by its address"
        rows.append(Row(_Way("server"), "Another server that speaks OpenAI's API", other))
        rows.append(Row(_Way("demo"), "The demo", "watch a scripted model at work, offline"))
        return rows

    def choose(self, row: Row[_Way]) -> None:
        self._lead(row.value)

    @work(exclusive=True)
    async def _lead(self, way: _Way) -> None:
        try:
            picked = await self._picked(way)
        except SloydError as error:
            self.notify(str(error), severity="error", markup=False, timeout=15)
            return
        if picked is not None:
            self.dismiss(picked)

    async def _picked(self, way: _Way) -> ModelPicked | None:
        if way.kind == "demo":
            return ModelPicked(ModelChoice(model=DEMO))
        if way.kind == "server":
            return await self._other_server()
        if way.provider is None:
            return None
        if way.kind == "local":
            return self._kept_local(way.provider, way.model, way.base_url)
        return await self._with_key(way.provider)

    def _kept_local(self, provider: Provider, model: str, base_url: str | None) -> ModelPicked:
        if base_url is not None and base_url != provider.base_url:
            set_provider(self._config, provider.name, base_url=base_url)
        return self._kept(provider.name, model)

    async def _other_server(self) -> ModelPicked | None:
        url = await self.app.push_screen_wait(
            InputDialog(self.keys, "Address of the server", "http://127.0.0.1:8000/v1")
        )
        if not url or not url.strip():
            return None
        model = await self._model_at(url.strip())
        if not model:
            return None
        key = await self.app.push_screen_wait(
            InputDialog(
                self.keys, "Its key, if it needs one", secret=True, hint="Enter without a key: none"
            )
        )
        if key is None:
            return None
        set_provider(self._config, "own", base_url=url.strip(), api="openai-chat")
        if key.strip():
            keep_in_file(self._config, "own", key.strip())
        return self._kept("own", model)

    async def _model_at(self, url: str) -> str | None:
        """The model's name: chosen from what the server offers, or typed."""
        import asyncio

        from sloyd.llm.local_servers import offered_models

        models = await asyncio.to_thread(offered_models, url) if url.startswith("http://") else ()
        if not models:
            return await self.app.push_screen_wait(
                InputDialog(self.keys, "Name of the model there")
            )
        picked = await self.app.push_screen_wait(SelectDialog(self.keys, "Model", models))
        return None if picked is None else models[picked]

    async def _with_key(self, provider: Provider) -> ModelPicked | None:
        base_url = provider.base_url
        if not base_url:
            typed = await self.app.push_screen_wait(
                InputDialog(self.keys, f"Address of your {provider.title}")
            )
            if not typed or not typed.strip():
                return None
            base_url = typed.strip()
        variable = provider.key_variables[0] if provider.key_variables else ""
        hint = f"Get one at {provider.keys_url}. It is not shown."
        if variable:
            hint += f" Or leave with Esc and set {variable} before the next start."
        key = await self.app.push_screen_wait(
            InputDialog(self.keys, f"Key of {provider.title}", secret=True, hint=hint)
        )
        if not key or not key.strip():
            return None
        where = await self._place_for(provider)
        if where is None:
            return None
        if base_url != provider.base_url:
            set_provider(self._config, provider.name, base_url=base_url)
        if where == "keyring":
            keep_in_keyring(self._config, provider.name, key.strip())
        elif where == "file":
            keep_in_file(self._config, provider.name, key.strip())
        kept = self._kept(provider.name, provider.default_model)
        if where != "nowhere":
            return kept
        choice = ModelChoice(
            provider=provider.name, model=provider.default_model, api_key=key.strip()
        )
        return ModelPicked(choice)

    async def _place_for(self, provider: Provider) -> str | None:
        """Where the person wants the key to be kept."""
        keyring = keyring_name()
        variable = provider.key_variables[0] if provider.key_variables else "a variable"
        places = [("file", f"In {self._config}, which only you can read")]
        if keyring is not None:
            places.insert(0, ("keyring", f"In the system's keyring ({keyring})"))
        places.append(("nowhere", f"Nowhere: I set {variable} myself; use it this time"))
        picked = await self.app.push_screen_wait(
            SelectDialog(self.keys, "Where is the key to be kept?", [text for _, text in places])
        )
        return None if picked is None else places[picked][0]

    def _kept(self, provider: str, model: str) -> ModelPicked:
        change_setting(self._config, "model.default", f"{provider}/{model}")
        if self._settings.model.provider is not None:
            # It would count for more than the name's own provider.
            change_setting(self._config, "model.provider", None)
        return ModelPicked(ModelChoice(model=f"{provider}/{model}"), save=True)
