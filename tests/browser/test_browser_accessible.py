"""axe-core finds nothing serious on any page, in both themes."""

from collections.abc import Sequence
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
    "run={run}&tab=results&sub=calibration",
    "run={run}&tab=results&sub=health",
    "run={run}&tab=results&sub=report",
    "run={run}&tab=results&sub=report&preview=1",
    "run={run}&tab=compare",
    "tab=models",
    "tab=models&add=endpoint",
)
JUDGED = (
    "run={run}&tab=results",
    "run={run}&tab=results&sub=samples",
    "run={run}&tab=results&sub=duels",
    "tab=arena",
    "run={run}&tab=annotate",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_of_a_choice_run_have_no_serious_fault(page: Any, run_id: str, theme: str):
    assert faults(page, PAGES, run_id, theme) == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_of_a_judged_run_have_no_serious_fault(
    chromium: Any, hall: Hall, contested: str, theme: str
):
    context = admitted(chromium, hall.address)
    found = faults(context.new_page(), JUDGED, contested, theme)
    context.close()
    assert found == {}


def faults(tab: Any, addresses: Sequence[str], run_id: str, theme: str) -> dict[str, list[str]]:
    """What axe-core finds on pages that have serious faults, by their addresses."""
    found = {
        address: violations(tab, f"/en/?{address.format(run=run_id)}", theme)
        for address in addresses
    }
    return {address: each for address, each in found.items() if each}


@pytest.fixture(scope="module")
def contested(hall: Hall) -> str:
    """A finished run of three contestants and two judges."""
    return contest(hall)
