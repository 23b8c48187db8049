"""The key of a request that may be sent twice and must start one run."""

import time
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.errors import RequestKeyUsed

KEPT_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class RequestKey:
    """What its sender calls a request, and the `digest` of its body; counts for a day."""

    key: str
    digest: str

    def run_of(self, connection: Connection, owner: str) -> str:
        """The run that the same request of an owner has started, "" if none.

        Raises:
            RequestKeyUsed: it was another request.
        """
        row = connection.execute(
            "SELECT digest, run FROM request_key WHERE owner = ? AND key = ? AND created > ?",
            (owner, self.key, time.time() - KEPT_S),
        ).fetchone()
        if row is None:
            return ""
        if row["digest"] != self.digest:
            raise RequestKeyUsed("request-key", key=self.key)
        return row["run"]

    def keep(self, connection: Connection, owner: str, run_id: str) -> None:
        """Inside the transaction that creates the run: note that it is this request's."""
        now = time.time()
        connection.execute("DELETE FROM request_key WHERE created <= ?", (now - KEPT_S,))
        connection.execute(
            "INSERT INTO request_key (owner, key, digest, run, created) VALUES (?, ?, ?, ?, ?)",
            (owner, self.key, self.digest, run_id, now),
        )
