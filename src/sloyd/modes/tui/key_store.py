"""Where a key that a person has typed is kept: the system's keyring, or the configuration file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from sloyd.errors import SettingsError
from sloyd.harness.home import replace_privately
from sloyd.harness.settings_edit import settings_text

__all__ = ["keep_in_file", "keep_in_keyring", "keyring_name", "set_provider"]

_SERVICE = "sloyd"


def keyring_name() -> str | None:
    """How the system's keyring is called; None when there is none that can be used."""
    try:
        keyring = import_module("keyring")
        no_keyring = import_module("keyring.backends.fail").Keyring
    except ImportError:
        return None
    backend = keyring.get_keyring()
    return None if isinstance(backend, no_keyring) else str(backend.name)


def keep_in_keyring(config: Path, provider: str, key: str) -> None:
    """Put the key into the keyring, and where it is into the file. Raises `SettingsError`."""
    keyring = import_module("keyring")
    try:
        keyring.set_password(_SERVICE, provider, key)
    except Exception as error:
        # Each backend of the keyring fails in its own way.
        raise SettingsError(f"the keyring did not take the key: {error}") from error
    set_provider(config, provider, key=f"keyring:{_SERVICE}/{provider}")


def keep_in_file(config: Path, provider: str, key: str) -> None:
    """Put the key into the file, which only its owner may read then. Raises `SettingsError`."""
    # A key that begins like a source of keys is written so that it stays a key.
    literal = key[0] + key if key[:1] in ("$", "!") else key
    set_provider(config, provider, key=literal)
    try:
        config.resolve().chmod(0o600)
    except OSError as error:
        raise SettingsError(f"cannot make {config} private: {error.strerror}") from error


def set_provider(config: Path, provider: str, **facts: str) -> None:
    """Set keys of ``[providers.NAME]`` and leave the rest of the file as it is.

    Raises `SettingsError` when the file is broken or cannot be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(settings_text(config).removeprefix("\ufeff"))
        if "providers" not in document:
            document["providers"] = tomlkit.table(is_super_table=True)
        providers = document["providers"]
        if provider not in providers:
            providers[provider] = tomlkit.table()
        for name, value in facts.items():
            providers[provider][name] = value
        replace_privately(config, tomlkit.dumps(document), secret=True)
    except (TypeError, ValueError, TOMLKitError) as error:
        # The first: what should be a table is a number, say.
        raise SettingsError(f"cannot change {config}: {error}") from error
