"""The Evaluate page before there is a file names what is read, as it is declared."""

import pytest
from ui_evaluate_screen import Screen

from evalui.app.service import AppService
from evalui.datasets.files import readable_suffixes
from evalui.types import Language


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_of_file_that_is_read_is_named(desk: AppService, language: Language):
    page = Screen(desk, language).render({})
    drop = page.partition("<h2>")[2].partition('class="acts"')[0]
    assert [suffix for suffix in readable_suffixes() if suffix[1:].upper() not in drop] == []
