import pytest

from evalui.errors import ModelError
from evalui.models.endpoint.limits import PUBLIC, authority, check_address, check_url, literal_ip


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::",  # Teredo, the server
        "2001:0:102:304::5601:5601",  # Teredo, the client, inverted
        "::ffff:0:169.254.169.254",  # SIIT
    ],
)
def test_no_request_goes_to_the_address_of_something_else(address: str):
    with pytest.raises(ModelError, match="is not asked: its address"):
        check_address("host", address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "::1",
        "10.0.0.5",
        "172.16.3.4",
        "192.168.1.20",
        "fd12:3456::7",
        "100.64.0.9",
        "93.184.216.34",
        "2606:2800:220:1::1",
        "::ffff:127.0.0.1",
        "::ffff:192.168.1.20",
    ],
)
def test_models_are_reached_where_people_run_them(address: str):
    check_address("host", address)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "１６９.２５４.１６９.２５４",
        "169。254。169。254",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[fe80::1]",
    ],
)
def test_each_notation_of_a_refused_address_is_known(host: str):
    with pytest.raises(ModelError, match="link-local"):
        check_url(f"http://{host}:8000/v1")


def test_a_name_is_no_address():
    assert literal_ip("metadata.google.internal") == ""
    assert literal_ip("127.1") == "127.0.0.1"
    check_url("http://model.example:8000/v1")


def test_the_sentence_shows_what_to_write_for_this_machine():
    with pytest.raises(ModelError, match=r"write 127\.0\.0\.1"):
        check_url("http://0.0.0.0:8000/v1")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://[::1]:8000/v1", "[::1]:8000"),
        ("https://api.example/v1", "api.example"),
        ("http://例子.example:80/v1", "xn--fsqu00a.example:80"),
    ],
)
def test_a_host_is_named_as_http_wants_it(url: str, expected: str):
    assert authority(url) == expected


LAB = ("model.lab", "10.1.0.0/16", "fd00:1::/32")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("model.lab", "192.0.2.7"),
        ("MODEL.lab.", "192.0.2.7"),
        ("other.example", "10.1.2.3"),
        ("other.example", "::ffff:10.1.2.3"),
        ("other.example", "fd00:1::7"),
    ],
)
def test_a_host_is_allowed_by_its_name_or_its_network(host: str, address: str):
    check_address(host, address, LAB)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.2.0.1", "::1", "64:ff9b::10.1.2.3"])
def test_a_name_that_resolves_elsewhere_is_not_allowed(address: str):
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        check_address("other.example", address, LAB)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "10.1.2.3"])
def test_public_allows_the_internet_beside_what_is_listed(address: str):
    check_address("other.example", address, (PUBLIC, "10.1.0.0/16"))
    check_url("http://other.example/v1", (PUBLIC,))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.5", "192.168.1.20", "100.64.0.9", "::1", "fd12:3456::7"),
        *("::ffff:127.0.0.1", "64:ff9b::10.0.0.5", "2002:a00:5::1", "::ffff:0:10.0.0.5"),
    ],
)
def test_public_allows_no_network_of_the_servers_own(address: str):
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        check_address("other.example", address, (PUBLIC,))


def test_a_listed_name_opens_no_metadata_service():
    with pytest.raises(ModelError, match="is not asked: its address"):
        check_address("model.lab", "169.254.169.254", LAB)


def test_an_address_of_a_form_is_checked_as_far_as_it_is_known():
    check_url("http://model.lab:8000/v1", LAB)
    check_url("http://other.example/v1", LAB)  # it may resolve into one of the networks
    for url in ("http://127.0.0.1:8000/v1", "http://0x7f000001/v1"):
        with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
            check_url(url, LAB)
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        check_url("http://other.example/v1", ["model.lab"])
