"""Icons of states and markers of models, as SVG that takes its colours from the style sheet."""

from evalui.report.html import Child, Html, el, span

LOGO = Html(
    '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">'
    '<path d="M2 5.5h9M2 14.5h16" stroke="var(--line-strong)" stroke-width="2"/>'
    '<circle cx="13" cy="5.5" r="3.5" fill="var(--accent)"/>'
    '<circle cx="6" cy="14.5" r="3.5" fill="var(--surface)" stroke="var(--accent)" '
    'stroke-width="2"/></svg>'
)
_STATUS_ICON = {"ok": "ok", "warn": "warn", "bad": "bad", "na": "none", "go": "running"}
_PATHS = {
    "ok": '<path d="M3 8.5l3.2 3.2L13 5" fill="none" stroke="currentColor" stroke-width="2"/>',
    "warn": (
        '<path d="M8 2L15 14H1z" fill="none" stroke="currentColor" stroke-width="1.6" '
        'stroke-linejoin="round"/><path d="M8 6v4M8 11.2v1.4" stroke="currentColor" '
        'stroke-width="1.6"/>'
    ),
    "bad": (
        '<path d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z" fill="currentColor"/>'
        '<path d="M5.5 5.5l5 5m0-5l-5 5" stroke="var(--surface)" stroke-width="1.6"/>'
    ),
    "none": '<path d="M3 8h10" stroke="currentColor" stroke-width="2"/>',
    "running": (
        '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2" '
        'stroke-dasharray="26 9"/>'
    ),
}
# In the order of the models of a run, as on the charts; baselines are always the grey diamond.
_SHAPES = (
    '<circle cx="7" cy="7" r="5.5"/>',
    '<rect x="2" y="2" width="10" height="10"/>',
    '<path d="M7 1l6 11H1z"/>',
    '<path d="M7 1l6 4.4-2.3 7.1H3.3L1 5.4z"/>',
    '<path d="M7 .5l1.9 4.1 4.5.5-3.4 3 1 4.4L7 10.3l-4 2.2 1-4.4-3.4-3 4.5-.5z"/>',
    '<path d="M3.9 1.6h6.2L13.2 7l-3.1 5.4H3.9L.8 7z"/>',
)
_DIAMOND = '<path d="M7 1l6 6l-6 6l-6 -6z"/>'


def icon(name: str) -> Html:
    """A 16-pixel status icon: ok, warn, bad, none or running."""
    frame = 'width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"'
    return Html(f"<svg {frame}>{_PATHS[name]}</svg>")


def series_number(place: int, *, baseline: bool = False) -> int:
    """The number of a model's colour, --d1 to --d6 of the style sheet; 0 of a baseline."""
    return 0 if baseline else place % len(_SHAPES) + 1


def marker_numbers(place: int, *, baseline: bool = False) -> tuple[int, int]:
    """The numbers of a model's shape, in the order of `marker_shapes`, and of its colour."""
    # Beyond six models the same colours come with other shapes.
    turned = place + place // len(_SHAPES)
    shape = len(_SHAPES) if baseline else turned % len(_SHAPES)
    return shape, series_number(place, baseline=baseline)


def marker_shapes() -> list[Html]:
    """Each shape as a marker without a colour of its own, that of baselines last."""
    return [*(marker(place) for place in range(len(_SHAPES))), marker(0, baseline=True)]


def marker(place: int, *, baseline: bool = False, hollow: bool = False) -> Html:
    """The shape and colour of the model at `place` (from 0) in its run."""
    number, series = marker_numbers(place, baseline=baseline)
    shape = (*_SHAPES, _DIAMOND)[number]
    colour = f"var(--d{series})"
    look = f'fill="{colour}"'
    if hollow:
        look = f'fill="var(--surface)" stroke="{colour}" stroke-width="2"'
    drawn = Html(f"<g {look}>{shape}</g>")
    # A hollow one has its outline outside of its shape.
    box = "-1 -1 16 16" if hollow else "0 0 14 14"
    return el("svg", drawn, cls="marker", width=14, height=14, viewBox=box, aria_hidden="true")


def model_name(name: str, place: int, baseline: bool) -> Html:
    """A model with its marker, the same everywhere in a run."""
    return span(marker(place, baseline=baseline), name, cls="mk")


def status_icon(kind: str) -> Html:
    """The icon of a state: ok, warn, bad, na or go."""
    return icon(_STATUS_ICON[kind])


def status(kind: str, word: Child) -> Html:
    """A state: its colour always comes with its icon and word."""
    return span(status_icon(kind), word, cls=f"st {kind}")
