"""Small runs whose figures can be counted by hand, and an empty store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from store_examples import open_database

from evalui.accounts import passwords
from evalui.scoring.choice.circular import variants
from evalui.store.connection import Database
from evalui.types import Cell, CellResult, CellState, Pattern, Reading, Sample, Trial, Variant

# The slots a model picks in the orders of one question, in pattern order. None is unreadable,
# "tie" a tie of two options with the right one among them.
Picks = Sequence[int | str | None]
MakeResult = Callable[..., CellResult]


def make_cell(
    model: str = "m", dataset: str = "d", mode: str = "generation", pattern: Pattern = "circular"
) -> Cell:
    return Cell(dataset, model, mode, mode, pattern, f"{dataset}@1|mode:{mode}|model:{model}")


def make_trial(
    sample: Sample, variant: Variant, pick: int | str | None, *, mass: float | None = None
) -> Trial:
    assert isinstance(sample.target, int)
    target = variant.permutation.index(sample.target)
    if pick == "tie":
        reading = Reading(None, 0.5, "tie", tied=True)
    elif pick is None:
        reading = Reading(None, 0.0, "refusal")
    else:
        assert isinstance(pick, int)
        reading = Reading(pick, float(pick == target), "strict")
    return Trial(
        sample_id=sample.id,
        variant=variant,
        target=target,
        headline="tolerant",
        readings={"tolerant": reading, "strict": reading},
        mass=mass,
        reply="A",
        fixed_reason=sample.fixed_reason,
    )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "evalui.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def make_result() -> MakeResult:
    """A cell from the picks of each question; `right` is a shorthand for its right slots."""

    def make(
        picks: Mapping[str, Picks | str],
        *,
        options: int = 4,
        targets: Mapping[str, int] | None = None,
        subjects: Mapping[str, dict[str, str]] | None = None,
        naming: Sequence[str] = (),
        mass: float | None = None,
        total: int | None = None,
        state: CellState = "done",
        error: str = "",
        **cell: str,
    ) -> CellResult:
        described = make_cell(**cell)  # pyright: ignore[reportArgumentType]
        samples: dict[str, Sample] = {}
        trials: list[Trial] = []
        for number, (name, picked) in enumerate(picks.items()):
            target = (targets or {}).get(name, number % options)
            sample = Sample(
                name,
                f"question {name}",
                tuple("uvwxyz"[:options]),
                target,
                (subjects or {}).get(name, {}),
                refers_to_other_options=name in naming,
            )
            samples[name] = sample
            orders = variants(options, described.pattern)
            slots: Picks = (
                [order.permutation.index(target) for order in orders]
                if isinstance(picked, str)
                else picked
            )
            trials += [
                make_trial(sample, order, pick, mass=mass)
                for order, pick in zip(orders, slots, strict=False)
            ]
        return CellResult(
            described,
            samples,
            tuple(trials),
            len(trials) if total is None else total,
            state,
            error,
        )

    return make


@pytest.fixture
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed at the least cost; what they cost is tested beside them."""
    from argon2 import PasswordHasher

    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    decoy = hasher.hash("whatever")
    monkeypatch.setattr(passwords, "_hasher", lambda: hasher)
    monkeypatch.setattr(passwords, "_decoy", lambda: decoy)
