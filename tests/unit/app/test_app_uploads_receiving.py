"""What a person may store counts what is on its way, too."""

import pytest

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.app.datasets import receiving_folder
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.ui.current_person import acting_as

ADMIN = Person("admin", "admin")
ANN = Person("ann", "annotator")


def test_uploads_at_once_stay_within_what_their_owner_may_store(desk: AppService):
    limits = {"auth": "password", "limit_stored_bytes": 100}
    desk.settings = desk.settings.model_copy(update=limits)
    add_person(desk.database, "ann", "annotator", by=ADMIN)
    with acting_as(ANN), receiving_folder(desk, 60):
        with pytest.raises(SpecError), receiving_folder(desk, 60):
            pass
        with receiving_folder(desk, 40), acting_as(ADMIN), receiving_folder(desk, 100):
            pass
    with acting_as(ANN), receiving_folder(desk, 100):
        pass
