"""The guards of the connections on which models are asked."""

import asyncio
import datetime
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

import aiohttp
import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from endpoint_server_examples import Names, Reply, ToyServer
from yarl import URL

from evalui.errors import ModelError
from evalui.models.endpoint import server as session_module
from evalui.models.endpoint.limits import Resolve
from evalui.models.endpoint.server import Session

METADATA = "169.254.169.254"


@pytest.fixture
def server() -> Iterator[ToyServer]:
    with ToyServer() as server:
        server.always = Reply(200, {}, {"connection": "close"})
        yield server


def named(server: ToyServer) -> str:
    """The server's URL under a name that no system resolves."""
    return server.url.replace("127.0.0.1", "model.invalid")


def statuses(
    url: str,
    resolve: Resolve,
    *,
    times: int = 1,
    at_once: bool = False,
    allowed: Sequence[str] = (),
) -> list[int]:
    """What comes of requests, one after another or all at once."""

    async def ask(session: Session) -> int:
        async with await session.exchange("GET", URL(f"{url}/models"), None) as response:
            await response.read()
            return response.status

    async def ask_all() -> list[int]:
        session = Session(
            url, timeout_s=60, total_s=60, headers={}, allowed=allowed, resolve=resolve
        )
        try:
            if at_once:
                return list(await asyncio.gather(*(ask(session) for _ in range(times))))
            return [await ask(session) for _ in range(times)]
        finally:
            await session.close()

    return asyncio.run(ask_all())


def test_the_address_that_was_checked_is_the_one_connected_to(server: ToyServer):
    names = Names(["127.0.0.1"])
    assert statuses(named(server), names) == [200]
    assert names.asked == 1


def test_a_name_that_resolves_differently_the_second_time_is_refused(server: ToyServer):
    with pytest.raises(ModelError, match=METADATA):
        statuses(named(server), Names(["127.0.0.1"], [METADATA]), times=2)
    assert len(server.asked) == 1


def test_connections_that_begin_together_look_a_name_up_once(server: ToyServer):
    names = Names(["127.0.0.1"])
    assert statuses(named(server), names, times=8, at_once=True) == [200] * 8
    assert names.asked == 1


def test_each_address_of_a_name_is_checked(server: ToyServer):
    names = Names([METADATA, "::ffff:169.254.169.254", "127.0.0.1"])
    assert statuses(named(server), names) == [200]


def test_a_refused_address_is_not_tried_after_one_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    tried: list[str] = []

    async def noted(*given: object) -> None:
        *_, place = given
        assert isinstance(place, tuple)
        tried.append(str(place[0]))
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", noted)
    with pytest.raises(aiohttp.ClientConnectorError):
        statuses("http://model.invalid/v1", Names(["127.0.0.1", METADATA, "127.0.0.2"]))
    assert set(tried) == {"127.0.0.1", "127.0.0.2"}


def test_an_address_that_is_written_as_such_is_checked_too():
    with pytest.raises(ModelError, match=METADATA):
        statuses(f"http://{METADATA}/v1", Names())


def test_a_name_that_resolves_outside_of_the_allowed_networks_gets_no_request(server: ToyServer):
    names = Names(["127.0.0.1"])
    assert statuses(named(server), names, allowed=["127.0.0.0/8"]) == [200]
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        statuses(named(server), names, allowed=["10.0.0.0/8"])
    assert len(server.asked) == 1


def test_a_name_that_resolves_to_nothing_is_out_of_reach():
    with pytest.raises(aiohttp.ClientConnectorError):
        statuses("http://model.invalid/v1", Names([]))


def test_requests_go_over_the_proxy(monkeypatch: pytest.MonkeyPatch, server: ToyServer):
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1").replace("//", "//me:secret@"))
    server.always = Reply(200)  # the second request goes over a kept connection
    assert statuses("http://model.invalid/v1", Names(), times=2) == [200] * 2
    for path, _, headers in server.asked:
        assert path == "http://model.invalid/v1/models"
        assert headers["proxy-authorization"] == "Basic bWU6c2VjcmV0"


def test_a_proxy_resolves_only_names_that_are_allowed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        statuses("http://other.invalid/v1", Names(), allowed=["model.invalid", "10.0.0.0/8"])


def test_a_kept_connection_that_was_closed_meanwhile_costs_no_attempt(
    monkeypatch: pytest.MonkeyPatch,
):
    """The server takes one request on each connection, and does not say so."""
    monkeypatch.setattr(session_module, "_STALE_S", 60.0)
    served: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        served.append(1)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        await reader.read(1)  # the next request is not answered
        writer.close()

    async def ask() -> list[int]:
        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        session = Session(url, timeout_s=60, total_s=60, headers={})
        found: list[int] = []
        for _ in range(3):
            async with await session.exchange("POST", URL(url), b"{}") as response:
                await response.read()
                found.append(response.status)
        await session.close()
        listener.close()
        return found

    assert asyncio.run(ask()) == [200] * 3
    assert len(served) == 3


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key and the certificate of model.invalid, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "model.invalid")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("model.invalid")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "model.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


def ask_encrypted(host: str, certificate: Path) -> int:
    """The status of a server with this certificate that is asked under a name."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def ask() -> int:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        listener = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        url = f"https://{host}:{listener.sockets[0].getsockname()[1]}/v1"
        session = Session(url, timeout_s=60, total_s=60, headers={}, resolve=Names(["127.0.0.1"]))
        try:
            async with await session.exchange("POST", URL(url), b"{}") as response:
                await response.read()
                return response.status
        finally:
            await session.close()
            listener.close()

    return asyncio.run(ask())


def test_a_certificate_that_no_authority_has_signed_is_refused(certificate: Path):
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        ask_encrypted("model.invalid", certificate)


def test_a_certificate_is_that_of_the_name_and_not_of_the_address(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(certifi, "where", lambda: str(certificate))
    assert ask_encrypted("model.invalid", certificate) == 200
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        ask_encrypted("other.invalid", certificate)
