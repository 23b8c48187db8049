"""Sends notes on ended runs to webhooks and by mail, in a thread of the server."""

import json
import logging
import smtplib
import ssl
import threading
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from evalui.accounts.notes.notices import Notice, claim_due, mark_arrived, mark_sent
from evalui.accounts.notes.preferences import (
    is_allowed_webhook,
    is_mail_address,
    read_preferences,
)
from evalui.errors import EvaluiError, ModelError, StoreError
from evalui.messages import sentence
from evalui.models.endpoint.http.addresses import authority, is_loopback
from evalui.models.endpoint.http.exchange import ExchangeFailed, exchange
from evalui.runs.database.connection import Database
from evalui.settings import Settings

_TIMEOUT_S = 10.0  # of one exchange in total
_PAUSE_S = 5.0  # between two looks at the store
_SMTP_PORTS = {False: 587, True: 465}  # by whether it is TLS from the beginning
_log = logging.getLogger(__name__)


class NotSent(EvaluiError):
    """A note did not arrive."""


class NoticeSender:
    """Sends what is due; a note that does not arrive is sent again three times."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the note in hand."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def send_due(self) -> int:
        """Send every note that is due, and return how many were tried."""
        tried = 0
        while not self._stopped.is_set() and (notice := claim_due(self._database)):
            tried += 1
            try:
                self._send(notice)
            except NotSent as error:
                # Nobody reads it but the administrator; addresses of webhooks may hold secrets.
                _log.warning("Note %d to %s was not sent: %s", notice.id, notice.person, error)
                if notice.is_last_try:
                    mark_sent(self._database, notice)
            else:
                mark_sent(self._database, notice)
        return tried

    def _run(self) -> None:
        while not self._stopped.wait(_PAUSE_S):
            try:
                self.send_due()
            except StoreError as error:
                _log.warning("Notes are not sent: %s", error)

    def _send(self, notice: Notice) -> None:
        """Send it each way it has not arrived yet; that one fails keeps it from no other."""
        chosen, settings = read_preferences(self._database, notice.person), self._settings
        address = f"{settings.public_url.rstrip('/')}/r/{notice.run}"
        failed: NotSent | None = None
        mails = is_mail_address(chosen.mail) and settings.smtp_url.get_secret_value()
        if mails and not notice.mailed:
            text = sentence(f"notice.{notice.state}", name=notice.name)
            try:
                send_mail(settings, chosen.mail, notice.name, f"{text}\n\n{address}\n")
                mark_arrived(self._database, notice, "mailed")
            except NotSent as error:
                failed = error
        allowed = is_allowed_webhook(chosen.webhook, settings.webhook_hosts)
        if allowed and not notice.posted:
            post_note(chosen.webhook, notice, address)
            mark_arrived(self._database, notice, "posted")
        if failed:
            raise failed


def post_note(url: str, notice: Notice, address: str) -> None:
    """Post a note to a webhook; raises `NotSent` for every answer but one of success.

    No redirect is followed, and what is connected to was checked as for endpoints.
    """
    fields = {"id": notice.id, "run": notice.run, "name": notice.name, "state": notice.state}
    content = json.dumps(fields | {"address": address}).encode()
    headers = {"Host": authority(url), "Content-Type": "application/json"}
    try:
        with exchange(
            "POST",
            url,
            content,
            headers=headers,
            connect_s=_TIMEOUT_S,
            timeout_s=_TIMEOUT_S,
            total_s=_TIMEOUT_S,
        ) as reply:
            status = reply.status
    except ModelError as error:
        raise NotSent(error.sentence) from error
    except ExchangeFailed as error:
        # Without its text, which has the address: that of a webhook may hold a secret.
        raise NotSent("not-sent", why=type(error.__cause__).__name__) from error
    if not 200 <= status < 300:
        raise NotSent("not-sent", why=f"HTTP {status}")


def send_mail(settings: Settings, to: str, subject: str, text: str) -> None:
    """Mail a text; raises `NotSent`. Only a server on this machine is spoken to in clear."""
    try:
        _mail(settings, to, subject, text)
    except (smtplib.SMTPException, OSError, ValueError) as error:  # the last of a broken setting
        raise NotSent("not-sent", why=type(error).__name__) from error


def _mail(settings: Settings, to: str, subject: str, text: str) -> None:
    parts = urlsplit(settings.smtp_url.get_secret_value())
    host, secure = parts.hostname or "", parts.scheme == "smtps"
    message = EmailMessage()
    message["From"], message["To"] = settings.mail_from, to
    message["Subject"] = sentence("notice.mail_subject", name=" ".join(subject.split()))
    message.set_content(text)
    context = ssl.create_default_context()
    port = parts.port or _SMTP_PORTS[secure]
    with (
        smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_S, context=context)
        if secure
        else smtplib.SMTP(host, port, timeout=_TIMEOUT_S)
    ) as server:
        server.ehlo()
        if not secure and (server.has_extn("starttls") or not is_loopback(host)):
            server.starttls(context=context)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(message)
