import pytest

from evalui.models.base import ModelEntry
from evalui.models.endpoint.limits import external_hosts, is_loopback, shown_host


def _endpoint(*urls: str) -> ModelEntry:
    options = {"base_url": urls[0], "base_urls": list(urls[1:])}
    return ModelEntry("m", "openai", path="m", options=options)


@pytest.mark.parametrize(
    ("urls", "hosts"),
    [
        (("https://api.example.org/v1",), ("api.example.org",)),
        (("http://127.0.0.1:8000/v1",), ()),
        (("http://localhost:8000/v1", "http://[::1]:8001/v1"), ()),
        (("http://127.0.0.1/v1", "http://10.0.0.7:8000/v1"), ("10.0.0.7",)),
        (("http://gpu-1/v1", "http://gpu-1:9/v1", "http://gpu-2/v1"), ("gpu-1", "gpu-2")),
        (("http://localhost.example.org/v1",), ("localhost.example.org",)),
        (("http://[broken/v1",), ("http://[broken/v1",)),
        (("https://模型.example/v1",), ("xn--xgs754b.example",)),
    ],
)
def test_an_endpoint_names_the_hosts_that_are_not_this_machine(
    urls: tuple[str, ...], hosts: tuple[str, ...]
):
    assert external_hosts(_endpoint(*urls)) == hosts


def test_a_model_that_is_loaded_here_goes_nowhere():
    assert external_hosts(ModelEntry("m", "transformers", path="org/model")) == ()
    assert external_hosts(ModelEntry("m", "vllm", path="org/model")) == ()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost", "127.3.4.5", "::1"])
def test_names_of_this_machine(host: str):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "example.org", "192.168.1.2", ""])
def test_names_of_others(host: str):
    assert not is_loopback(host)


def test_the_address_of_a_cluster_has_a_host():
    assert shown_host("ray://head.example.org:10001") == "head.example.org"
    assert shown_host("10.0.0.5:6379") == "10.0.0.5"
    assert shown_host("auto") == "auto"
