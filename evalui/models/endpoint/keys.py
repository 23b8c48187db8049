"""API keys that people enter: encrypted at rest, each bound to one model and one address.

A key is only ever written here and read to be sent to its address; nothing shows it.
"""

import base64
import fcntl
import hashlib
import json
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.errors import ModelError, StoreError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

SECRET_VARIABLE = "EVALUI_SECRET_KEY"
_SECRET_FILE = "secret-key"
_MIN_SECRET_LENGTH = 32  # characters


def store_key(store: Path, name: str, address: str, key: str) -> None:
    """Keep the key of a model for requests to `address` alone; an earlier one is replaced.

    Raises:
        ModelError: the secret that encrypts it cannot be used, or a file cannot be read.
        StoreError: a file cannot be written.
    """
    bound = json.dumps({"model": name, "address": address, "key": key})
    token = _cipher(store.parent).encrypt(bound.encode()).decode("ascii")
    _write(store, _read(store) | {name: token})


def read_key(store: Path, name: str, address: str) -> str:
    """The key of a model for requests to `address`.

    Raises:
        ModelError: there is none, it was entered for another address, or it cannot be read or
            decrypted.
    """
    from cryptography.fernet import InvalidToken  # takes some 50 ms, and few models have a key

    token = _read(store).get(name)
    if token is None:
        raise ModelError("key-missing")
    try:
        bound = json.loads(_cipher(store.parent).decrypt(token))
    except InvalidToken:
        raise ModelError("key-undecipherable") from None
    if (bound["model"], bound["address"]) != (name, address):
        raise ModelError("key-other-address")
    return bound["key"]


def remove_key(store: Path, name: str) -> None:
    """Forget the key of a model, if there is one; raises as `store_key` does."""
    tokens = _read(store)
    if tokens.pop(name, None) is not None:
        _write(store, tokens)


def replace_file(path: Path, text: str) -> None:
    """Replace a file in one step by one that its owner alone can read; raises `OSError`.

    When it returns, the new file is on the disk.
    """
    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(number)
        Path(name).replace(path)
        _sync_folder(path.parent)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Let a rename in the folder survive a loss of power."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _read(store: Path) -> dict[str, str]:
    """The encrypted keys by model, none where nothing was ever stored."""
    try:
        tokens = json.loads(store.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError("keys-unreadable", file=str(store)) from error
    return {str(name): str(token) for name, token in tokens.items()}


def _write(store: Path, tokens: dict[str, str]) -> None:
    try:
        store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(store, json.dumps(tokens, indent=1))
    except OSError as error:
        raise StoreError(
            "additions-unwritable", file=str(store), reason=str(error.strerror)
        ) from error


def _cipher(folder: Path) -> "Fernet":
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(server_secret(folder)).digest()))


def server_secret(folder: Path) -> bytes:
    """The secret of the server with this data folder: of its environment, else of a file there.

    Raises:
        ModelError: it is too short, or its file cannot be used.
    """
    secret = os.environ.get(SECRET_VARIABLE, "").strip().encode() or _kept_secret(folder)
    if len(secret) < _MIN_SECRET_LENGTH:
        raise ModelError("secret-too-short", name=SECRET_VARIABLE, n=_MIN_SECRET_LENGTH)
    return secret


def _kept_secret(folder: Path) -> bytes:
    """The secret of this data folder, made when it is first needed."""
    path = folder / _SECRET_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_CREAT gives the mode to new files only, and a link may not lead us elsewhere.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "r+b") as file:
            # Server and worker may need it at once: the second reads what the first wrote.
            fcntl.flock(file, fcntl.LOCK_EX)
            if stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
                raise ModelError("secret-readable", file=str(path))
            secret = file.read().strip()
            if not secret:
                secret = secrets.token_urlsafe(32).encode("ascii")
                file.write(secret + b"\n")
                file.flush()
                os.fsync(handle)
            return secret
    except OSError as error:
        raise ModelError("keys-unreadable", file=str(path)) from error
