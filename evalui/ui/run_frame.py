"""The frame of every view of a run: its line, the ways to its views, what to know of its state."""

from evalui.app.leaderboard import has_duels
from evalui.app.run_view import RunView
from evalui.report.html import Html
from evalui.store.runs import LIVE_STATES
from evalui.ui.components.format import format_time
from evalui.ui.components.progress_document import run_title
from evalui.ui.components.templates import fill

VIEWS = ("overview", "samples", "bias", "statistics", "report")
JUDGED_VIEWS = ("overview", "duels", "samples", "annotate", "report")  # of written answers alone
# Views that are reached from others, and the one of `VIEWS` they belong to.
WITHIN = {"calibration": "statistics", "health": "overview", "duels": "overview"}


def offered_views(view: RunView) -> tuple[str, ...]:
    """The views of a run; of answers that were only marked one by one none shows duels."""
    if view.has_choices:
        return VIEWS
    duels = has_duels(view.service, view.run.id)
    return tuple(each for each in JUDGED_VIEWS if duels or each != "duels")


def view_name(view: RunView, requested: str) -> str:
    """The view that is shown: written answers have no positions and are not right or wrong."""
    known = requested in offered_views(view) or (view.has_choices and requested in WITHIN)
    if requested == "duels":  # beside multiple choice, too, where the written part leads to them
        known = has_duels(view.service, view.run.id)
    return requested if known and requested != "annotate" else VIEWS[0]


def run_frame(view: RunView, name: str) -> Html:
    """What stands above the view of this name."""
    t, run = view.t, view.run
    offered = offered_views(view)
    current = name if name in offered else WITHIN.get(name, name)
    views = [(t(f"tab.{each}"), _address(view, each), each == current) for each in offered]
    kind, state = _state(view, name)
    page = "annotate" if name == "annotate" else "results"
    return fill(
        "results/frame.html",
        t=t,
        title=f"{run_title(t, run)} · {t(f'tab.{page}')} · {t('app.name')}",
        is_live=view.is_live,
        name=run.name,
        facts=" · ".join(view.facts(format_time(t, view.moment))),
        views=views,
        kind=kind,
        state=state,
        watch=f"runs?run={run.id}" if kind == "na" else "",
    )


def _address(view: RunView, name: str) -> str:
    return f"annotate?run={view.run.id}" if name == "annotate" else view.address(name)


def _state(view: RunView, name: str) -> tuple[str, str]:
    """Kind and sentence of a state that is not done; the Overview shows itself how far a run is."""
    t, run = view.t, view.run
    if run.state == "failed" and run.error:
        return "bad", t.translate(run.error)
    if run.state == "queued" and not run.done:
        return "na", t("results.queued_of")
    if run.state not in LIVE_STATES or name == VIEWS[0]:
        return "", ""
    return "na", t("results.live_of", done=f"{run.done:,}", total=f"{run.total:,}")
