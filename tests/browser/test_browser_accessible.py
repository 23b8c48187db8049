"""axe-core finds nothing serious on any page, in both themes."""

from typing import Any

import pytest
from axe_examples import violations
from browser_servers import admitted
from open_browser_examples import Hall, contest

PAGES = (
    "tab=evaluate",
    "tab=runs",
    "run={run}&tab=runs",
    "tab=results",
    "run={run}&tab=results",
    "run={run}&tab=results&panel=share",
    "run={run}&tab=results&sub=samples",
    "run={run}&tab=results&sub=bias",
    "run={run}&tab=results&sub=statistics",
    "run={run}&tab=results&sub=report",
    "run={run}&tab=compare",
    "tab=models",
)
JUDGED = (
    "run={run}&tab=results",
    "run={run}&tab=results&sub=samples",
    "run={run}&tab=arena",
    "run={run}&tab=arena&sub=duels",
    "run={run}&tab=annotate",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", PAGES)
def test_a_page_of_a_choice_run_has_no_serious_fault(
    page: Any, run_id: str, address: str, theme: str
):
    assert violations(page, f"/en/?{address.format(run=run_id)}", theme) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_of_a_judged_run_have_no_serious_fault(
    chromium: Any, hall: Hall, contested: str, theme: str
):
    context = admitted(chromium, hall.address)
    tab = context.new_page()
    found = {
        address: violations(tab, f"/en/?{address.format(run=contested)}", theme)
        for address in JUDGED
    }
    context.close()
    assert {address: faults for address, faults in found.items() if faults} == {}


@pytest.fixture(scope="module")
def contested(hall: Hall) -> str:
    """A finished run of three contestants and two judges."""
    return contest(hall)
