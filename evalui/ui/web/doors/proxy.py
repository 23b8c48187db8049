"""The door of a server behind a proxy that signs people in, and names them in headers."""

import time
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from evalui.access import Person
from evalui.accounts.people import add_person, checked_name, find_person, note_request
from evalui.accounts.secrets import is_old
from evalui.errors import AccountError
from evalui.settings import Settings
from evalui.ui.web.doors.door import Door, problem

PEER = "evalui.peer"  # of a scope: who is connected, whatever headers state


class ProxyDoor(Door):
    """Believes the headers of the listed proxies, and of nobody else.

    A person whom a proxy names for the first time gets an account. Who is in the group of
    administrators is one while the proxy states so; their role in the store stays as it is.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app, settings)
        self._seen: dict[str, float] = {}

    def known(self, scope: Scope, headers: Headers) -> Person | None:
        """Whom the proxy names, None if it is no proxy of ours or the name cannot be one."""
        names = headers.getlist(self.settings.proxy_user_header)
        if not is_proxy(self.settings, scope.get(PEER)) or len(names) != 1:
            return None
        try:
            person = self._person(checked_name(names[0]))
        except AccountError:
            return None
        if person is None:
            return None
        self._touch(person.name)
        return replace(person, role="admin") if self._is_admin(headers) else person

    def refusal(self, scope: Scope) -> Response:
        """401; to sign in is the proxy's business."""
        del scope
        return problem("error.not-known-by-proxy", 401)

    def _person(self, name: str) -> Person | None:
        person = find_person(self.accounts, name)
        if person is None:
            with suppress(AccountError):  # it is there: disabled, or added a moment ago
                add_person(self.accounts, name, self.settings.proxy_role, by=Person(name))
            person = find_person(self.accounts, name)
        return person

    def _is_admin(self, headers: Headers) -> bool:
        header = self.settings.proxy_groups_header
        sent = headers.getlist(header) if header else []
        groups = {group.strip().casefold() for value in sent for group in value.split(",")}
        return self.settings.proxy_admins.casefold() in groups - {""}

    def _touch(self, name: str) -> None:
        if is_old(self._seen.get(name)):
            self._seen[name] = time.time()
            note_request(self.accounts, name)


def is_proxy(settings: Settings, peer: str | None) -> bool:
    """Whether who is connected is one of the listed proxies."""
    try:
        address = ip_address(peer or "")
    except ValueError:  # no address of a network
        return False
    return any(address in network for network in settings.proxy_addresses)
