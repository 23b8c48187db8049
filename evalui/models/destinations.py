"""Where a model's questions go: the hosts outside this server that its entry names."""

import ipaddress
from collections.abc import Iterator
from typing import cast

from evalui.models.base import ModelEntry, traits_of
from evalui.models.endpoint.http.addresses import host_of


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
