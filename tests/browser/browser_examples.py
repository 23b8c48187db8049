"""What several browser tests do first."""

from typing import Any


def start_sample(tab: Any, *models: str, clicks: int = 1) -> None:
    """From the empty page to a started run of the sample; always-A and steady unless told."""
    tab.goto("/en/")
    tab.get_by_role("button", name="Try it with a sample").click()
    for name in ("steady", "always-A", "slow"):
        box = tab.get_by_label(name, exact=True)
        box.set_checked(name in (models or ("steady", "always-A")))
    tab.get_by_role("button", name="Start evaluation").click(click_count=clicks)
    tab.wait_for_selector("#runs-pane .matrix")
