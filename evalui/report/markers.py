"""Which shape and which colour a model has, the same everywhere in a run."""

SHAPES = 6  # in the order of the models of a run; baselines are always the grey diamond


def series_number(place: int, *, baseline: bool = False) -> int:
    """The number of a model's colour, --d1 to --d6 of the style sheet; 0 of a baseline."""
    return 0 if baseline else place % SHAPES + 1


def marker_numbers(place: int, *, baseline: bool = False) -> tuple[int, int]:
    """The numbers of a model's shape, that of baselines the last, and of its colour."""
    # Beyond six models the same colours come with other shapes.
    turned = place + place // SHAPES
    return SHAPES if baseline else turned % SHAPES, series_number(place, baseline=baseline)
