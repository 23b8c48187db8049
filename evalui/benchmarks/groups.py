"""Groups of subjects or of datasets whose figures are stated together, as a run declares them.

Benchmarks publish such groups (C-Eval's STEM): `published_groups` has a file of each, with the
names of subjects as in the published files. `scoring.groups` makes the figures.
"""

import math
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self, cast

from pydantic import BaseModel, ConfigDict, model_validator

from evalui.errors import SpecError
from evalui.messages import sentence
from evalui.types import DeclaredGroup, GroupMean, GroupOf

_FOLDER = Path(__file__).with_name("published_groups")
_OWN_FIELDS = ("name", "members", "of", "weights")  # of a group that is not published
Subjects = Mapping[str, Collection[str]]  # of each dataset of a run, by its name


class SummaryGroup(BaseModel):
    """A group of `members`, which are subjects or datasets by their names, or a published list.

    `mean` macro takes the mean of the members' values, by their `weights` where there are some;
    micro weighs each member by the number of its questions. None is that of the published list,
    else macro. Subjects count in every dataset that has any of them, or in the one `dataset`
    alone. `published` stands for all groups of that list, and then only `mean` and `dataset` may
    stand beside it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    published: str = ""
    name: str = ""
    members: list[str] = []
    of: GroupOf = "subjects"
    dataset: str = ""
    mean: GroupMean | None = None
    weights: dict[str, float] = {}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.published:
            if self.published not in (known := published_lists()):
                listed = ", ".join(known)
                raise ValueError(
                    sentence("error.group-unpublished", name=self.published, known=listed)
                )
            usual = SummaryGroup.model_fields
            if more := [name for name in _OWN_FIELDS if getattr(self, name) != usual[name].default]:
                raise ValueError(sentence("error.group-published-field", field=more[0]))
            return self
        if not self.name.strip() or not self.members:
            raise ValueError(sentence("error.group-empty"))
        if len(set(self.members)) < len(self.members):
            twice = next(name for name in self.members if self.members.count(name) > 1)
            raise ValueError(sentence("error.group-member-twice", group=self.name, member=twice))
        if self.dataset and self.of == "datasets":
            raise ValueError(sentence("error.group-dataset-field", group=self.name))
        self._check_weights()
        return self

    def _check_weights(self) -> None:
        if not self.weights:
            return
        if self.mean == "micro":
            raise ValueError(sentence("error.group-micro-weights", group=self.name))
        for member in self.members:
            if member not in self.weights:
                raise ValueError(sentence("error.group-no-weight", group=self.name, member=member))
        for member, weight in self.weights.items():
            if member not in self.members:
                raise ValueError(
                    sentence("error.group-foreign-weight", group=self.name, member=member)
                )
            if not (math.isfinite(weight) and weight > 0):
                raise ValueError(
                    sentence(
                        "error.group-weight", group=self.name, member=member, weight=f"{weight:g}"
                    )
                )


@dataclass(frozen=True, slots=True)
class PublishedList:
    """The groups of one benchmark: `base` parts its subjects, `more` holds some of them again."""

    title: str
    mean: GroupMean
    base: Mapping[str, tuple[str, ...]]
    more: Mapping[str, tuple[str, ...]]
    whole: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """All subjects, each once."""
        return tuple(name for members in self.base.values() for name in members)

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The subjects of every group by its name, that of all subjects last."""
        named = {**self.base, **self.more, self.whole: self.subjects}
        return {f"{self.title} {name}": members for name, members in named.items()}


@cache
def published_lists() -> Mapping[str, PublishedList]:
    """Every published list by its name."""
    return {path.stem: _read_list(path) for path in sorted(_FOLDER.glob("*.toml"))}


def check_published(names: Iterable[str]) -> None:
    """Raises `SpecError` with those there are if one of the published lists is unknown."""
    for name in names:
        if name not in (known := published_lists()):
            raise SpecError("group-unpublished", name=name, known=", ".join(known))


def published_groups(names: Iterable[str]) -> list[SummaryGroup]:
    """Published lists as they stand in a specification; raises as `check_published` does."""
    every = list(names)
    check_published(every)
    return [SummaryGroup(published=name) for name in every]


def groups_of_spec(groups: Iterable[Any]) -> tuple[DeclaredGroup, ...]:
    """The groups that the JSON of a specification declares."""
    return declared_groups([SummaryGroup.model_validate(each) for each in groups])


def declared_groups(groups: Iterable[SummaryGroup]) -> tuple[DeclaredGroup, ...]:
    """Each group by itself, in the order of the specification and of the published lists."""
    return tuple(each for group in groups for each in _declared(group))


def check_groups(groups: Sequence[SummaryGroup], subjects: Subjects) -> None:
    """Check the groups against the datasets of a run and the subjects of each.

    Raises:
        SpecError: a member or dataset is none of the run, a published list has no subject there,
            or a group is called as a subject or dataset.
    """
    every = {name for own in subjects.values() for name in own}
    for group in groups:
        if group.dataset and group.dataset not in subjects:
            raise _unknown(group.name or group.published, group.dataset, subjects)
    for group in declared_groups(groups):
        if group.name in subjects or group.name in every:
            raise SpecError("group-name-taken", group=group.name)
        if group.published:
            if not any(group.counts_in(name, own) for name, own in subjects.items()):
                raise SpecError("group-no-subject", group=group.name)
            continue
        known = subjects if group.of == "datasets" else subjects.get(group.dataset, every)
        for member in group.members:
            if member not in known:
                raise _unknown(group.name, member, known)


def _unknown(group: str, member: str, known: Iterable[str]) -> SpecError:
    listed = ", ".join(sorted(name for name in known if name)) or "–"
    return SpecError("group-unknown-member", group=group, member=member, known=listed)


def _declared(group: SummaryGroup) -> Iterator[DeclaredGroup]:
    if not group.published:
        yield DeclaredGroup(
            group.name,
            tuple(group.members),
            group.of,
            group.dataset,
            group.mean or "macro",
            group.weights,
        )
        return
    known = published_lists()[group.published]
    every = frozenset(known.subjects)
    for name, members in known.groups.items():
        yield DeclaredGroup(
            name,
            members,
            dataset=group.dataset,
            mean=group.mean or known.mean,
            published=every,
        )


def _read_list(path: Path) -> PublishedList:
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    base, more = (
        {
            str(each["name"]): tuple(cast("list[str]", each["subjects"]))
            for each in cast("list[dict[str, Any]]", values.get(kind, []))
        }
        for kind in ("base", "more")
    )
    return PublishedList(values["title"], values["mean"], base, more, values["whole"])
