import pytest

from evalui.errors import ModelError
from evalui.models.endpoint.limits import Proxy, proxy_for


def test_a_proxy_of_the_environment_is_used_unless_it_is_not_for_this_host(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("https_proxy", "proxy.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,.local")
    assert proxy_for("https://api.example/v1") == Proxy("http://proxy.example:3128", "", "")
    assert proxy_for("http://api.example/v1") is None
    assert proxy_for("https://box.local/v1") is None
    assert proxy_for("https://127.0.0.1:8000/v1") is None


def test_the_user_of_a_proxy_stands_apart_from_its_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("https_proxy", "http://me:p%40ss@proxy.example:3128")
    assert proxy_for("https://api.example/v1") == Proxy("http://proxy.example:3128", "me", "p@ss")


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "2130706433"])
def test_a_server_on_this_machine_is_reached_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch, host: str
):
    monkeypatch.setenv("http_proxy", "proxy.example:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    assert proxy_for(f"http://{host}/v1") is None


def test_a_proxy_of_another_kind_is_refused_without_its_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "socks5://me:secret@proxy.example:1080")
    with pytest.raises(ModelError, match="socks5") as told:
        proxy_for("http://api.example/v1")
    assert "secret" not in told.value.sentence
