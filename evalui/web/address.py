"""Where the server listens, and the secret in its address: kept in the data folder.

The socket listens before anything slow is imported: until the application is there, requests wait
in its queue instead of being refused. The browser never keeps the token: it gets a cookie whose
value is derived from it.
"""

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import socket
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.errors import SpecError, StoreError

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

    from evalui.settings import Settings

FILE = "access-token"
_BYTES = 32  # of randomness
_MAX_LENGTH = 128  # characters of a token; longer texts are not ours
_BACKLOG = 2048  # connections that may wait


def access_token(folder: Path, *, renew: bool = False) -> str:
    """The token of the server that keeps its data in `folder`, made if there is none yet.

    The same after a restart, so that open pages go on; `renew` replaces it, which closes the
    server to all who have the old one. A file that other users could read is replaced, too.

    Raises:
        StoreError: the file cannot be read or written.
    """
    own_folder(folder)
    path = folder / FILE
    try:
        # O_CREAT gives the mode to new files only, and a link may not lead us elsewhere.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "r+b") as file:
            # Two servers may start at once on one folder: the second reads what the first wrote.
            fcntl.flock(file, fcntl.LOCK_EX)
            stored = file.read(_MAX_LENGTH + 1).decode("ascii", "replace").strip()
            if _is_token(stored) and _is_private(handle) and not renew:
                return stored
            os.fchmod(handle, 0o600)
            token = secrets.token_urlsafe(_BYTES)
            file.seek(0)
            file.truncate()
            file.write(f"{token}\n".encode("ascii"))
            return token
    except OSError as error:
        raise StoreError(
            "access-token", file=str(path), reason=error.strerror or str(error)
        ) from error


def own_folder(folder: Path) -> None:
    """Make a folder that no other user of the machine can open.

    Raises:
        StoreError: it cannot be made, or is not ours.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise StoreError("data-folder", reason=str(error)) from error


def cookie_of(token: str) -> tuple[str, str]:
    """Name and value of the cookie that stands for a token; neither gives the token away.

    A browser sends its cookies to every port of a host. The name differs from token to token, so
    that servers beside each other, also behind tunnels to one port, do not replace each other's.
    """
    return f"evalui-{derived(token, 'name')[:16]}", derived(token, "value")


def cookie_name(scope: "Scope", name: str) -> str:
    """The name of a cookie in a request and its answer.

    A server of another port could set a cookie of the plain name; one that begins with `__Host-`
    browsers take from this host over https alone. They want it for the path "/".
    """
    is_whole = scope["scheme"] == "https" and not scope.get("root_path")
    return f"__Host-{name}" if is_whole else name


def keep_cookie(
    answer: "Response", scope: "Scope", name: str, value: str, seconds: int | None
) -> None:
    """Let a browser keep a secret that no script reads; None seconds: until it is closed.

    0 seconds end it.
    """
    answer.set_cookie(
        cookie_name(scope, name),
        value,
        max_age=seconds,
        path=scope.get("root_path") or "/",
        secure=scope["scheme"] == "https",
        httponly=True,
        samesite="lax",
    )


def is_same(candidate: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), expected.encode("utf-8"))


def derived(token: str, purpose: str) -> str:
    """A secret for one purpose, which does not give the token away."""
    return hmac.new(token.encode(), f"evalui cookie {purpose}".encode(), hashlib.sha256).hexdigest()


def _is_token(text: str) -> bool:
    return re.fullmatch(rf"[A-Za-z0-9_-]{{32,{_MAX_LENGTH}}}", text) is not None


def _is_private(handle: int) -> bool:
    status = os.fstat(handle)
    return stat.S_IMODE(status.st_mode) & 0o077 == 0 and status.st_uid == os.geteuid()


def check_door(settings: "Settings") -> None:
    """Raise `SpecError` if the settings of who is let in contradict each other."""
    if settings.auth != "token" and not settings.token:
        raise SpecError("no-token-shared")
    if settings.auth == "proxy" and not settings.proxy_addresses:
        raise SpecError("proxy-addresses")


def listen(host: str, port: int, *, only_here: bool = False) -> socket.socket:
    """A socket on the address; port 0 takes a free one.

    Raises:
        SpecError: the address is taken, forbidden, or none of this machine; or other machines reach
            it, and it is to be `only_here`.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        if only_here and not ip_address(str(address[0]).partition("%")[0]).is_loopback:
            raise SpecError("door-needed", host=host)
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:  # Unicode: a name that no machine can have
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError("not-listening", port=port, host=host, reason=reason) from error
    # Inherited by connections; asyncio sets it only for sockets that name their protocol. A body
    # would otherwise wait some 40 ms for the browser's receipt of the head before it.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket, token: str) -> str:
    """The address to open in a browser on this machine; no token, no parameter."""
    host, port = listener.getsockname()[:2]
    address = ip_address(host.partition("%")[0])
    if address.is_unspecified:  # all addresses of the machine
        host = "127.0.0.1" if address.version == 4 else "::1"
    place = f"[{host}]" if address.version == 6 else host
    return f"http://{place}:{port}/" + (f"?token={token}" if token else "")
