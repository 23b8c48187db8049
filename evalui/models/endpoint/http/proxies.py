"""Which proxy of the environment requests go over."""

import urllib.request
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from evalui.errors import ModelError
from evalui.models.endpoint.http.addresses import host_of, is_loopback, literal_ip

_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Proxy:
    """The URL of a proxy without a user, and the user's name and password, "" without one."""

    url: str
    user: str
    password: str


def proxy_for(url: str) -> Proxy | None:
    """The environment's proxy for requests to a URL, None without one.

    A server on this machine is reached without it: the proxy's own machine would be meant there.

    Raises:
        ModelError: the proxy is of a kind that cannot be used.
    """
    parts = urlsplit(url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all", "")
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return None
    host = host_of(url)
    if is_loopback(literal_ip(host) or host):
        return None
    read = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if read.scheme not in _SCHEMES:
        raise ModelError(  # without the address: it may hold a password
            "endpoint-proxy-kind",
            kind=read.scheme,
            known=", ".join(_SCHEMES),
        )
    place = f"{read.scheme}://{read.netloc.rpartition('@')[2]}"
    return Proxy(place, unquote(read.username or ""), unquote(read.password or ""))
