"""What several browser tests do first."""

from typing import Any

from browser_servers import ROOT

SAMPLE = sorted((ROOT / "assets" / "samples" / "demo").glob("*.csv"))


def upload_sample(tab: Any) -> None:
    """From the empty page to the shipped sample as a file of one's own."""
    sample = tab.request.get("/examples/dev-and-val.zip").body()
    file = {"name": "evalui-sample.zip", "mimeType": "application/zip", "buffer": sample}
    tab.set_input_files("#files", file)
    tab.wait_for_selector(".evaluate .cost", timeout=60_000)


def unfold_baselines(tab: Any) -> None:
    """Show the models that only demonstrate, which are folded where there are others."""
    if tab.locator(".models .foldrow:not([open]) b", has_text="Demo and baselines").count():
        tab.get_by_text("Demo and baselines").click()


def start_sample(tab: Any, *models: str, clicks: int = 1, name: str = "evalui-sample") -> None:
    """From the empty page to a started run of the sample's files; always-A and steady unless told.

    It runs letters in every order, and cloze.
    """
    tab.goto("/en/")
    tab.set_input_files("#files", SAMPLE)
    start = tab.get_by_role("button", name="Start evaluation")
    start.wait_for(timeout=60_000)  # Gradio may still be coming
    unfold_baselines(tab)
    for model in ("steady", "always-A", "slow"):
        chosen = model in (models or ("steady", "always-A"))
        tab.get_by_label(model, exact=True).set_checked(chosen)
    tab.get_by_label("Cloze", exact=True).check()
    tab.get_by_label("Name of the run").fill(name)
    start.click(click_count=clicks)
    tab.wait_for_url("**run=**", wait_until="commit")


def preview(tab: Any) -> Any:
    """The first questions of the one dataset, which stand in its card."""
    tab.get_by_role("button", name="Preview", expanded=False).press("Enter")
    tab.get_by_text("Questions as a model sees them").wait_for()
    return tab.locator(".asked")


def close_preview(tab: Any) -> None:
    """Take the questions away by the button that showed them."""
    tab.get_by_role("button", name="Preview", expanded=True).press("Enter")
    tab.get_by_text("Questions as a model sees them").wait_for(state="hidden")


def pick(tab: Any, label: str, word: str) -> None:
    """Choose a word of a list: one of Gradio's, or a native one."""
    field = tab.locator("[role=combobox], [role=listbox], select").and_(tab.get_by_label(label))
    field = field.first  # a chart may have such a name, too
    if field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(label=word)
        return
    field.click()
    tab.get_by_role("option", name=word, exact=True).click()


def drop_answers(tab: Any, file: Any) -> None:
    """Hand a file of answers to the place for them, which is folded away at first."""
    tab.set_input_files("#answer-files", file)
