"""What use cases work with: settings, the store, the files, what is kept, and who acts."""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Self

from evalui.access import (
    ANONYMOUS,
    DEEDS_WITH_A_THING,
    LOCAL_PERSON,
    Deed,
    Person,
    may,
    require,
)
from evalui.app.column_memory import ColumnMemory
from evalui.app.exports import ExportProcesses, export_command
from evalui.app.files.reader import FileReader
from evalui.app.files.runners import FileRunner, FilesHere
from evalui.app.kept_results import KeptResults
from evalui.app.models_service import ModelsService
from evalui.app.permissions import checks
from evalui.app.uploads import UploadStore
from evalui.errors import UnknownRun
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.results_cache import ResultCache
from evalui.store.runs import RunRow, read_run
from evalui.store.voting.ballots import VotingPairsCache
from evalui.store.voting.plans import VoterPairs

# Of uploads, reports and comparisons that stay in memory: with the program itself (some 150 MB),
# its pages and what is computed just now, a server stays below 700 MB.
_CACHE_BYTES = 3 * 2**27
_PAGE_BYTES = 2**26  # bytes of pages that do


class AppService:
    """One per server; safe to share between threads.

    Use cases are functions that take it: what they do is done for one person. `acting_for` gives
    the same service to another one, with the same store, files and kept results. The service that
    a server begins with acts for LOCAL_PERSON, on a server with accounts for nobody.
    """

    def __init__(
        self, settings: Settings, database: Database, files: FileRunner | None = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.voting_pairs = VotingPairsCache(database)
        self.voter_pairs = VoterPairs(database, self.voting_pairs)
        self.uploads = UploadStore(
            settings.uploads, settings.max_upload_mb * 2**20, read_only=settings.read_only
        )
        self.cache = ResultCache(_CACHE_BYTES)
        self.pages = ResultCache(_PAGE_BYTES)
        self.exports = ExportProcesses(partial(export_command, database.path, settings.models))
        runner = files or FilesHere(settings, database)
        self.files = FileReader(runner, self.uploads, self.cache, lambda: self.person)
        self._bind(lambda: None)
        self.kept = KeptResults(database, self.cache, self.models, self.voter_pairs)

    def _bind(self, sender: Callable[[], Person | None]) -> None:
        self._sender = sender
        self.models = ModelsService(self.settings, self.database, lambda: self.person)
        self.column_memory = ColumnMemory(
            self.settings.data_dir / "columns",
            lambda: self.owner,
            read_only=self.settings.read_only,
        )
        self.files = self.files.with_sender(lambda: self.person)

    def with_sender(self, sender: Callable[[], Person | None]) -> Self:
        """The same service for whom `sender` names at each call; None is nobody in particular."""
        other = copy(self)
        other._bind(sender)
        return other

    def acting_for(self, person: Person | None) -> Self:
        """The same service for this person; None is nobody in particular."""
        return self.with_sender(lambda: person)

    @property
    def person(self) -> Person:
        """For whom all is done."""
        alone = LOCAL_PERSON if self.settings.auth == "token" else ANONYMOUS
        return self._sender() or alone

    @property
    def owner(self) -> str:
        """The name under which what the person makes is kept."""
        return self.person.name

    @property
    def may_start(self) -> bool:
        """Whether the person may upload and start anything at all."""
        return not self.settings.read_only and may(self.person, "start")

    def require(self, deed: Deed, run_id: str = "") -> None:
        """Make sure that the person may do a deed, at all or with a run.

        Raises:
            NotAllowed: they may not.
            UnknownRun: as `run` does.
        """
        require(self.person, deed, self.run(run_id, deed).owned if run_id else None)

    def deeds(self, run: RunRow) -> frozenset[Deed]:
        """What the person may do with a run."""
        return frozenset(deed for deed in DEEDS_WITH_A_THING if may(self.person, deed, run.owned))

    @checks("that the person may see the run, or may do the deed")
    def run(self, run_id: str, deed: Deed = "see") -> RunRow:
        """A run that the person may see or do this with; raises `UnknownRun` if there is none."""
        row = read_run(self.database, run_id)
        if not may(self.person, "see", row.owned) and not may(self.person, deed, row.owned):
            raise UnknownRun("no-run", run=run_id)
        return row
