"""The socket of the server, which listens before anything slow is imported.

Until the application is there, requests wait in the socket's queue instead of being refused.
"""

import socket
from ipaddress import ip_address

from evalui.errors import SpecError

_BACKLOG = 2048  # connections that may wait


def listen(host: str, port: int) -> socket.socket:
    """A socket on the address; port 0 takes a free one.

    Raises:
        SpecError: the address is taken, forbidden, or none of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:  # Unicode: a name that no machine can have
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(
            "not-listening",
            port=port,
            host=host,
            reason=reason,
        ) from error


def address_of(listener: socket.socket, token: str) -> str:
    """The address to open in a browser on this machine; no token, no parameter."""
    host, port = listener.getsockname()[:2]
    found = ip_address(host.partition("%")[0])
    if found.is_unspecified:  # all addresses of the machine
        host = "127.0.0.1" if found.version == 4 else "::1"
    place = f"[{host}]" if found.version == 6 else host
    return f"http://{place}:{port}/" + (f"?token={token}" if token else "")
