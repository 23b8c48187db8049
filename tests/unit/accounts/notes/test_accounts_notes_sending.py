"""Notes reach a webhook of an allowed host and a mail server, and nothing else."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evalui.access import Person
from evalui.accounts.notes import sending
from evalui.accounts.notes.notices import Notice
from evalui.accounts.notes.preferences import NotePreferences, write_preferences
from evalui.accounts.notes.sending import NoticeSender, NotSent, post_note, send_mail
from evalui.runs.database.connection import Database
from evalui.settings import Settings

ANN = Person("ann", "annotator")
NOTE = Notice(7, "ann", "k3f", "Midterm", "done")


class Hook(ThreadingHTTPServer):
    """A server that answers what it is set to, and keeps what it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = [(204, {})]
        self.posted: list[tuple[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook?key=s3cret"


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.posted.append((self.path, json.loads(self.rfile.read(length))))
        status, headers = self.server.answers[0]
        if len(self.server.answers) > 1:
            del self.server.answers[0]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Mailbox:
    """A mail server without encryption, which keeps what it is sent."""

    def __init__(self, *, takes: bool = True) -> None:
        self.lines: list[str] = []
        self._takes = takes
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Mailbox":
        self._thread.start()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"smtp://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)  # a connection may end meanwhile
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            self.lines.append(line)
            if line.upper() == "DATA":
                writer.write(b"354 go on\r\n")
                while (text := (await reader.readline()).decode().rstrip("\r\n")) != ".":
                    self.lines.append(text)
                writer.write(b"250 taken\r\n")
            elif line.upper() == "QUIT":
                writer.write(b"221 bye\r\n")
                break
            else:
                is_refused = line.upper().startswith("RCPT") and not self._takes
                writer.write(b"550 nobody\r\n" if is_refused else b"250 ok\r\n")
        writer.close()


@pytest.fixture
def sender(database: Database) -> Callable[..., NoticeSender]:
    def make(*, webhook: str = "", mail: str = "", **settings: Any) -> NoticeSender:
        chosen = NotePreferences(webhook, mail)
        write_preferences(database, chosen, hosts=["127.0.0.1"], by=ANN)
        given = {"webhook_hosts": ["127.0.0.1"], "public_url": "https://eval.example.org/"}
        return NoticeSender(database, Settings(**given | settings))

    return make


def test_a_webhook_is_sent_what_ended_and_where_to_read_it(hook, sender, ended):
    run_id = ended("failed", name="Mid\nterm")
    assert sender().send_due() == 0
    run_id = ended("failed", name="Mid\nterm")
    assert sender(webhook=hook.url).send_due() == 1
    ((path, sent),) = hook.posted
    assert path == "/hook?key=s3cret"
    assert sent == {
        "id": 2,
        "run": run_id,
        "name": "Mid\nterm",
        "state": "failed",
        "address": f"https://eval.example.org/r/{run_id}",
    }
    assert sender(webhook=hook.url).send_due() == 0


def test_no_host_is_sent_anything_that_is_not_allowed_any_more(hook, sender, ended):
    ended()
    assert sender(webhook=hook.url, webhook_hosts=["other"]).send_due() == 1
    assert hook.posted == []


def test_a_redirect_is_not_followed(hook):
    hook.answers = [(307, {"Location": hook.url.replace("/hook", "/elsewhere")})]
    with pytest.raises(NotSent, match="HTTP 307"):
        post_note(hook.url, NOTE, "")
    assert [path for path, _ in hook.posted] == ["/hook?key=s3cret"]


def test_an_address_of_a_metadata_service_is_refused_at_connect(monkeypatch):
    with pytest.raises(NotSent, match="metadata"):
        post_note("http://169.254.169.254/latest", NOTE, "")
    resolved = [(2, 1, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: resolved)
    with pytest.raises(NotSent, match=r"169\.254\.169\.254"):
        post_note("http://hooks.example.org/", NOTE, "")


def test_a_note_that_was_not_taken_is_sent_again_and_logged_without_the_address(
    database, hook, sender, ended, caplog
):
    hook.answers = [(500, {}), (204, {})]
    ended()
    made = sender(webhook=hook.url)
    with caplog.at_level(logging.WARNING):
        assert made.send_due() == 1
    assert "HTTP 500" in caplog.text
    assert "s3cret" not in caplog.text
    with database.writing() as connection:
        connection.execute("UPDATE notice SET due = 0")
    assert made.send_due() == 1
    assert len(hook.posted) == 2
    assert made.send_due() == 0


def test_who_answers_nothing_at_all_is_reported(hook):
    hook.shutdown()
    hook.server_close()
    with pytest.raises(NotSent, match="ClientConnectorError"):
        post_note(hook.url, NOTE, "")


def test_a_mail_says_what_ended(sender, ended):
    with Mailbox() as box:
        given = {"smtp_url": box.url, "mail_from": "evalui@example.org"}
        made = sender(mail="ann@example.org", **given)
        run_id = ended(name="Mid\nterm\r\nBcc: x@y")
        assert made.send_due() == 1
    assert any(line.upper().startswith("RCPT TO:<ANN@EXAMPLE.ORG>") for line in box.lines)
    assert "Subject: evalui: Mid term Bcc: x@y" in box.lines
    assert not any(line.startswith("Bcc:") for line in box.lines[: box.lines.index("")])
    assert f"https://eval.example.org/r/{run_id}" in box.lines


def test_a_mail_is_not_sent_again_because_a_webhook_fails(database, hook, sender, ended):
    hook.answers = [(500, {})]
    with Mailbox() as box:
        given = {"smtp_url": box.url, "mail_from": "evalui@example.org"}
        made = sender(webhook=hook.url, mail="ann@example.org", **given)
        ended()
        for _ in range(4):
            assert made.send_due() == 1
            with database.writing() as connection:
                connection.execute("UPDATE notice SET due = 0")
        assert made.send_due() == 0
    assert len(hook.posted) == 4
    assert len([line for line in box.lines if line == "data"]) == 1


def test_a_webhook_is_posted_to_once_though_mails_are_refused(database, hook, sender, ended):
    with Mailbox(takes=False) as box:
        given = {"smtp_url": box.url, "mail_from": "evalui@example.org"}
        made = sender(webhook=hook.url, mail="ann@example.org", **given)
        ended()
        for _ in range(4):
            assert made.send_due() == 1
            with database.writing() as connection:
                connection.execute("UPDATE notice SET due = 0")
        assert made.send_due() == 0
    assert len(hook.posted) == 1


def test_a_mail_server_that_refuses_is_reported(monkeypatch):
    with Mailbox(takes=False) as box:
        settings = Settings(smtp_url=box.url, mail_from="evalui@example.org")
        with pytest.raises(NotSent, match="SMTPRecipientsRefused"):
            send_mail(settings, "ann@example.org", "Midterm", "text")
        # Another machine is not spoken to in clear.
        monkeypatch.setattr(sending, "is_loopback", lambda _: False)
        with pytest.raises(NotSent, match="SMTPNotSupportedError"):
            send_mail(settings, "ann@example.org", "Midterm", "text")


@pytest.mark.parametrize("url", ["smtp://127.0.0.1:x", "smtp://127.0.0.1:99999", "nonsense"])
def test_a_broken_setting_ends_no_thread(url: str):
    settings = Settings(smtp_url=url, mail_from="evalui@example.org")
    with pytest.raises(NotSent):
        send_mail(settings, "ann@example.org", "Midterm", "text")


def test_the_password_of_the_mail_server_is_in_no_text_of_the_settings():
    assert "s3cret" not in repr(Settings(smtp_url="smtp://u:s3cret@mail.example.org"))


def test_a_sender_ends_whether_or_not_it_began(database):
    idle = NoticeSender(database, Settings())
    idle.stop()
    begun = NoticeSender(database, Settings())
    begun.start()
    begun.stop()
    assert begun.send_due() == 0


def test_an_address_that_was_kept_and_is_none_ends_no_thread(database, sender, ended):
    with Mailbox() as box:
        made = sender(mail="ann@b", smtp_url=box.url, mail_from="evalui@example.org")
        with database.writing() as connection:
            connection.execute("""UPDATE person SET preferences = '{"mail": "a@["}'""")
        ended()
        assert made.send_due() == 1
    assert not box.lines
