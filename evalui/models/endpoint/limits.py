"""What keeps this machine safe from servers: refused addresses, proxies, bytes of a reply.

A user who adds a model chooses an address, and the server of evalui connects to it. The services
that a cloud offers to its own machines give out keys, so their addresses are refused. Loopback
and private addresses are not: that is where people run their models.
"""

import ipaddress
import re
import socket
import zlib
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.base import ModelEntry, traits_of
from evalui.models.endpoint.protocol import LIMIT_FIELDS

if TYPE_CHECKING:
    from asyncio import Future

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
_SCHEMES = ("http", "https")
BASE_BYTES = 2**20  # bytes that any reply may have
BYTES_PER_TOKEN = (
    512  # bytes of a token with its text, its bytes as numbers, and its log-probability
)
# Lists, objects and their members: parsed, each takes up to some hundred bytes of memory, and
# in the reply as few as three. A log-probability has five of them in sixty bytes or more, and the
# limit in bytes is several times what an honest reply has.
BASE_ITEMS = 20_000
_BYTES_PER_ITEM = 48
MAX_REPLY_BYTES = 64 * 2**20  # bytes of a reply, whatever was requested
MAX_IN_FLIGHT_BYTES = 256 * 2**20  # bytes of all replies that are being read, in one process
MAX_SENT_PICTURE_BYTES = 64 * 2**20  # of all requests under way, in one process
_MAX_PICTURE_TOKENS = 2**14  # of one picture: what Qwen's models make of the largest
COMMON_REPLY_BYTES = 2**18  # bytes; nearly all replies are shorter
# The fields of a request by which its reply is long.
_PROMPT_FIELDS = ("prompt", "messages", "tokens")
_LISTING_FIELDS = ("logprobs", "top_logprobs", "prompt_logprobs", "logprob_token_ids")
_DECOMPRESSED_CHUNK = 2**16  # bytes that are decompressed at a time
_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for the format
_PLAIN = ("", "identity")
_ZIPPED = ("gzip", "x-gzip")
ACCEPTED = "gzip"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)  # of JSON


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
    return parts.scheme in _SCHEMES and bool(host and port != 0)


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
        raise ModelError("endpoint-refused-address", host=host, address=address, kind=kind)
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
    import urllib.request  # loads an HTTP client of its own

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
            "endpoint-proxy-kind", kind=read.scheme, known=", ".join(_SCHEMES)
        )
    place = f"{read.scheme}://{read.netloc.rpartition('@')[2]}"
    return Proxy(place, unquote(read.username or ""), unquote(read.password or ""))


class ReplyTooLong(Exception):
    """A reply has more bytes than an honest one could have; `limit` is that many."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class InvalidContentEncoding(Exception):
    """A reply is in another encoding than was asked for, which it names, or breaks off."""


def reply_byte_limit(body: Mapping[str, Any]) -> int:
    """The bytes that a reply to a request may have.

    A base, and for each token of the prompt and each new one as many for itself and for each
    log-probability requested. A text counts a token for each character, which is more than it has.
    """
    tokens = sum(map(_max_prompt_tokens, map(body.get, _PROMPT_FIELDS)))
    tokens += max(map(_requested_count, map(body.get, LIMIT_FIELDS)))
    listed = max(map(_requested_count, map(body.get, _LISTING_FIELDS)))
    return min(MAX_REPLY_BYTES, BASE_BYTES + BYTES_PER_TOKEN * tokens * (1 + listed))


class ReplyReservation:
    """What one reply may take: `limit` bytes, of which those in use are reserved in the budget;
    given back at the end of a `with`.
    """

    def __init__(self, budget: "ReplyMemoryBudget", limit: int) -> None:
        self._budget = budget
        self.limit = limit
        self._common = self._rest = 0

    async def grow(self, size: int) -> None:
        """Take what a reply of `size` bytes needs, once there is as much; raises `ReplyTooLong`."""
        if size > self.limit:
            raise ReplyTooLong(self.limit)
        if not self._common:
            await self._budget.common.acquire(COMMON_REPLY_BYTES)
            self._common = COMMON_REPLY_BYTES
        if size > COMMON_REPLY_BYTES and not self._rest:
            # All it may ever need at once: two that wait for each other's rest would never end.
            await self._budget.rest.acquire(self.limit)
            self._rest = self.limit

    def __enter__(self) -> "ReplyReservation":
        """Take nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give everything back."""
        self._budget.common.release(self._common)
        self._budget.rest.release(self._rest)
        self._common = self._rest = 0


class ReplyMemoryBudget:
    """The bytes of all replies that are being read, and not yet parsed, at one time.

    A quarter is for the beginnings of replies, the rest for those few that are longer. A reply
    that waits for the rest holds a beginning only, and one that has both needs nothing more, so
    none waits for ever. `total` must be at least 4/3 of `MAX_REPLY_BYTES`.
    """

    def __init__(self, total: int = MAX_IN_FLIGHT_BYTES) -> None:
        self.common = _FairByteSemaphore(total // 4)
        self.rest = _FairByteSemaphore(total - total // 4)

    def reserve(self, limit: int) -> ReplyReservation:
        """The memory of a reply, until it is parsed. Nothing is taken before it arrives."""
        return ReplyReservation(self, limit)


class _FairByteSemaphore:
    """So many bytes, given out in the order in which they are requested; of one event loop."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._waiting: deque[tuple[int, Future[None]]] = deque()

    async def acquire(self, size: int) -> None:
        """Wait for so many bytes and take them."""
        if self._free >= size and not self._waiting:
            self._free -= size
            return
        import asyncio

        given = asyncio.get_running_loop().create_future()
        self._waiting.append((size, given))
        try:
            await given
        except asyncio.CancelledError:
            if given.cancelled():
                with suppress(ValueError):  # it was its turn already
                    self._waiting.remove((size, given))
                self._give()  # to those behind it
            else:
                self.release(size)
            raise

    def release(self, size: int) -> None:
        """Give so many bytes back."""
        self._free += size
        self._give()

    def _give(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            size, given = self._waiting.popleft()
            if not given.cancelled():  # else it is on its way out
                self._free -= size
                given.set_result(None)


# One in each process: what it protects is the memory of the process.
REPLY_MEMORY = ReplyMemoryBudget()
_SENT_PICTURES = _FairByteSemaphore(MAX_SENT_PICTURE_BYTES)


@asynccontextmanager
async def picture_memory(size: int) -> AsyncGenerator[None]:
    """Within it, pictures of so many bytes are encoded and sent: it waits until they may be,
    beside those of other requests.
    """
    if not size:
        yield
        return
    taken = min(size, MAX_SENT_PICTURE_BYTES)
    await _SENT_PICTURES.acquire(taken)
    try:
        yield
    finally:
        _SENT_PICTURES.release(taken)


async def read_all(
    pieces: AsyncIterable[bytes], headers: Mapping[str, str], reservation: ReplyReservation
) -> bytes:
    """The whole body of a reply, decompressed.

    Raises:
        ReplyTooLong: it has more bytes than are reserved, or its header states more.
        InvalidContentEncoding: it cannot be decompressed.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > reservation.limit:
        raise ReplyTooLong(reservation.limit)
    body = bytearray()
    unpack = _Unpacking(headers.get("content-encoding", ""))
    received = 0
    async for piece in pieces:
        received += len(piece)
        if received > reservation.limit:  # as compressed nothing may be endless
            raise ReplyTooLong(reservation.limit)
        for part in unpack.feed(piece):
            await reservation.grow(len(body) + len(part))
            body += part
    if rest := unpack.end():
        await reservation.grow(len(body) + len(rest))
        body += rest
    return bytes(body)


def check_items(body: bytes, limit: int) -> None:
    """Raise `ReplyTooLong` for JSON that would fill the memory when it is parsed.

    `limit` are the bytes that the reply may have.
    """
    most = BASE_ITEMS + limit // _BYTES_PER_ITEM
    if _count_items(body) > most and _count_items(_STRING.sub(b"", body)) > most:
        raise ReplyTooLong(limit)


def _count_items(body: bytes) -> int:
    return body.count(b",") + body.count(b"[") + body.count(b"{")


async def read_beginning(
    pieces: AsyncIterable[bytes], headers: Mapping[str, str], most: int
) -> bytes:
    """The first bytes of a body, decompressed as far as it can be; `most` at most."""
    body = bytearray()
    received = 0
    try:
        unpack = _Unpacking(headers.get("content-encoding", ""))
        async for piece in pieces:
            received += len(piece)
            for part in unpack.feed(piece):
                body += part
                if len(body) >= most:
                    return bytes(body[:most])
            if received > most:
                break
    except InvalidContentEncoding:
        pass  # what has been read is what is known of an error
    return bytes(body)


def _max_prompt_tokens(value: object) -> int:
    """The tokens of a prompt at most: characters of texts, numbers in lists, pictures."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        turn = cast("dict[str, object]", value)
        if "image_url" in turn:
            return _MAX_PICTURE_TOKENS
        return _max_prompt_tokens(turn.get("content", turn.get("text")))
    if isinstance(value, list):
        each = cast("list[object]", value)
        return sum(1 if isinstance(one, int) else _max_prompt_tokens(one) for one in each)
    return 0


def _requested_count(value: object) -> int:
    """How many log-probabilities or tokens a field requests: a number, a list, or whether any."""
    if isinstance(value, list):
        return len(cast("list[object]", value))
    return max(0, int(value)) if isinstance(value, int) else 0


class _Unpacking:
    """A body in one of the encodings that are accepted, unpacked a little at a time."""

    def __init__(self, encoding: str) -> None:
        kind = encoding.strip().lower()
        if kind not in (*_PLAIN, *_ZIPPED):
            raise InvalidContentEncoding(kind)
        self._inflate = zlib.decompressobj(_GZIP) if kind in _ZIPPED else None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What a piece of the body unpacks to."""
        if self._inflate is None:
            yield piece
            return
        left = piece
        try:
            while left and not self._inflate.eof:
                yield self._inflate.decompress(left, _DECOMPRESSED_CHUNK)
                left = self._inflate.unconsumed_tail
        except zlib.error as error:
            raise InvalidContentEncoding("") from error

    def end(self) -> bytes:
        """What is left; raises `InvalidContentEncoding` if the body has broken off."""
        if self._inflate is None:
            return b""
        try:
            rest = self._inflate.flush()
        except zlib.error as error:
            raise InvalidContentEncoding("") from error
        if not self._inflate.eof:
            raise InvalidContentEncoding("")
        return rest
