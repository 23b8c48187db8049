"""Hosts that requests are sent to, and addresses that they are never sent to, however written.

A user who adds a model chooses an address, and the server of evalui connects to it. The services
that a cloud offers to its own machines give out keys, so their addresses are refused. Loopback
and private addresses are not: that is where people run their models.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import cast
from urllib.parse import urlsplit

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.base import ModelEntry, traits_of

Resolve = Callable[[str, int], Sequence[str]]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Metadata services beside the link-local one: Alibaba, Azure, Oracle, Amazon, Google, Oracle.
_METADATA = tuple(
    ipaddress.ip_network(each)
    for each in (
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fd00:ec2::/32",
        "fd20:ce::254/128",
        "fd00:c1::a9fe:a9fe/128",
    )
)
# Networks whose addresses carry one of IPv4 in their last 32 bits: compatible, translated (RFC
# 6052, 2.1, RFC 7915 and RFC 8215). `ipaddress` knows of the mapped ones and of 6to4 itself.
_EMBEDDING_NETWORKS = tuple(
    ipaddress.IPv6Network(each)
    for each in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)
PUBLIC = "public"  # among the hosts that are allowed: every address that the whole internet reaches
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_THIS_NETWORK = ipaddress.IPv4Network("0.0.0.0/8")
_SECRET_MARKERS = "@?#"  # what stands before or after these in an address may be a password


def host_of(url: str) -> str:
    """The host of a URL in ASCII, an IPv6 address without its brackets; "" without one.

    Raises `ValueError` for what cannot be the name of a host.
    """
    return (urlsplit(url).hostname or "").encode("idna").decode("ascii")


def authority(url: str) -> str:
    """The host and port of a URL as a Host header has them, in ASCII."""
    host, port = host_of(url), urlsplit(url).port
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def is_http_url(url: str) -> bool:
    """Whether a text is an address that requests can be sent to."""
    if " " in url or not url.isprintable():  # urlsplit would drop a line break
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
        host = host_of(url)
    except ValueError:  # a port that is no number, or what no name of a host can be
        return False
    return parts.scheme in ("http", "https") and bool(host and port != 0)


def may_hold_secret(url: str) -> bool:
    """Whether an address has a user name, a password, a query or a fragment."""
    return any(mark in url for mark in _SECRET_MARKERS)


def check_url(url: str, allowed: Sequence[str] = (), *, resolved_later: bool = True) -> None:
    """Check the host of a URL as far as it can be without resolving it.

    `allowed` is as in `check_address`. A name that is not among them may be in one of their
    networks: with `resolved_later` that is left to `check_address`.

    Raises:
        ModelError: the host is refused.
    """
    host = host_of(url)
    if address := literal_ip(host):
        check_address(host, address, allowed)
    elif not _is_allowed(host, None, allowed) and not (
        resolved_later and (PUBLIC in allowed or _networks(allowed))
    ):
        raise ModelError("endpoint-host-not-allowed", host=host)


def literal_ip(host: str) -> str:
    """The IP address that a host of a URL is by itself, "" if it is a name.

    IPv4 may stand as one decimal, octal or hexadecimal number, or as several, as connections
    take it.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, ValueError):
        return ""


def check_address(host: str, address: str, allowed: Sequence[str] = ()) -> None:
    """Raise `ModelError` if an IP address is refused; `host` is the name that resolved to it.

    `allowed` are names of hosts, which may resolve to anything else, networks, and `PUBLIC`; ()
    allows all.
    """
    parsed = ipaddress.ip_address(address)
    kind = _refusal_reason(parsed)
    if kind is not None:
        raise ModelError(
            "endpoint-refused-address",
            host=host,
            address=address,
            kind=kind,
        )
    if not _is_allowed(host, parsed, allowed):
        raise ModelError("endpoint-host-not-allowed", host=host)


def resolve_host(host: str, port: int) -> list[str]:
    """The IP addresses of a host, in the system's order; raises `OSError`."""
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(str(error)) from error
    return list(dict.fromkeys(str(each[4][0]) for each in resolved))


def allowed_addresses(
    host: str, addresses: Sequence[str], allowed: Sequence[str] = ()
) -> list[str]:
    """Those of a host's addresses that `check_address` lets pass; raises if it refuses them all."""
    passed: list[str] = []
    refused: list[ModelError] = []
    for address in addresses:
        try:
            check_address(host, address, allowed)
        except ModelError as error:
            # A machine in one's own network may have a link-local address beside its usual.
            refused.append(error)
        else:
            passed.append(address)
    if refused and not passed:
        raise refused[0]
    return passed


def _is_allowed(host: str, address: _Address | None, allowed: Sequence[str]) -> bool:
    if not allowed:
        return True
    if host.rstrip(".").casefold() in {shown_host(each).rstrip(".").casefold() for each in allowed}:
        return True
    if address is None:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if PUBLIC in allowed and all(each.is_global for each in (address, *_embedded_ipv4(address))):
        return True
    return any(
        address in network for network in _networks(allowed) if network.version == address.version
    )


def _networks(allowed: Sequence[str]) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
    for each in allowed:
        with suppress(ValueError):  # the name of a host
            networks.append(ipaddress.ip_network(each, strict=False))
    return networks


def _refusal_reason(address: _Address) -> Sentence | None:
    """What a refused address is; None for any other."""
    for carried in _embedded_ipv4(address):
        if kind := _refusal_reason(carried):
            return kind
    if any(address in network for network in _METADATA if network.version == address.version):
        return sentence("error.address-metadata")
    if address.is_link_local:
        return sentence("error.address-link-local")
    if address.is_multicast or address == _BROADCAST:
        return sentence("error.address-multicast")
    if address.is_unspecified or address in _THIS_NETWORK:
        return sentence("error.address-unspecified")
    return None


def _embedded_ipv4(address: _Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses inside one of IPv6; of Teredo the server's and the client's."""
    if isinstance(address, ipaddress.IPv4Address) or int(address) <= 1:  # ::1 is the loopback
        return ()
    if embedded := address.ipv4_mapped or address.sixtofour:
        return (embedded,)
    if address.teredo:
        return address.teredo
    if any(address in network for network in _EMBEDDING_NETWORKS):
        return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()


def external_hosts(entry: ModelEntry) -> tuple[str, ...]:
    """The hosts that are sent this model's questions, those of this machine left out.

    Empty for a model that is loaded here. An address that cannot be read counts as its whole text:
    what is not known to be this machine is another one.
    """
    if not traits_of(entry).remote:
        return ()
    hosts = dict.fromkeys(map(shown_host, _addresses(entry)))
    return tuple(host for host in hosts if not is_loopback(host))


def is_loopback(host: str) -> bool:
    """Whether a name or an IP address is always this machine's own."""
    name = host.rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may lead anywhere
        return False


def shown_host(address: str) -> str:
    """The host of "http://host:port/path" or "host:port" in ASCII, as it will be connected to; the
    whole text where there is none.
    """
    try:
        return host_of(address if "://" in address else f"//{address}") or address
    except ValueError:  # brackets that hold no IP address, or what no name of a host can be
        return address


def _addresses(entry: ModelEntry) -> Iterator[str]:
    one, several = entry.options.get("base_url"), entry.options.get("base_urls")
    # What an options table holds is checked when the model is opened, and may be anything here.
    listed = cast("list[object]", several) if isinstance(several, list) else []
    yield from (str(address) for address in (one, *listed) if address)
