"""What was answered once is not computed again."""

from contextlib import closing
from pathlib import Path

from endpoint_flow_examples import Branch, Place
from flow_examples import QUESTIONS, TRIALS, Office, dataset

from evalui.models import read_catalog
from evalui.models.base import ReplyCount
from evalui.runs.estimate import KeptElsewhere, count_cached, kept_elsewhere
from evalui.runs.plan import plan_run
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.store.runs import read_run
from evalui.store.usage import reply_counts


def test_a_circular_run_after_a_plain_one_pays_only_for_the_new_orders(office: Office) -> None:
    office.queue(pattern="origin")
    office.work_here()
    assert len(office.answered()) == QUESTIONS
    office.queue(pattern="circular")
    office.work_here()
    assert len(office.answered()) == TRIALS
    assert len(set(office.answered())) == TRIALS


def test_a_run_repeated_costs_no_model_call_and_gives_the_same(office: Office) -> None:
    first, second = office.queue(), office.queue()
    office.work_here()
    office.work_here()
    assert len(office.answered()) == TRIALS
    assert office.trials(first) == office.trials(second)


def test_a_longer_run_pays_for_the_new_questions(office: Office) -> None:
    office.queue(n=50)
    office.work_here()
    again = office.queue(n=50)
    office.work_here()
    assert len(office.answered()) == 200
    assert read_run(office.database, again).done == 200


def test_another_server_of_the_same_name_is_asked_itself(tmp_path: Path) -> None:
    """Two servers may both call their model "tiny"; where an entry has moved, its figures move."""
    with closing(Branch(tmp_path)) as branch:
        first = branch.queue_questions(n=5)
        branch.work_here()
        (place,) = branch.places
        other = Place(tmp_path / "elsewhere")
        branch.places.append(other)
        branch.models.write_text(branch.models.read_text().replace(place.url, other.url))
        (offered,) = _offered(branch)
        assert (offered.replies, offered.requests, offered.run) == (20, 20, first)
        second = branch.queue_questions(n=5)
        branch.work_here()
        assert len(place.answered()) == len(other.answered()) == 20
        counts = reply_counts(branch.database, second)
        assert counts == (ReplyCount("remote", 20),)
        assert not _offered(branch)  # its own are all kept
        kept = branch.queue_questions(n=5, replies_of={"remote": offered.addresses})
        branch.work_here()
        assert len(other.answered()) == 20
        assert branch.trials(kept) == branch.trials(first)
        (count,) = reply_counts(branch.database, kept)
        assert (count.replies, count.run) == (20, first)


def _offered(branch: Branch) -> tuple[KeptElsewhere, ...]:
    """What is said of kept replies before a run of the same questions starts."""
    catalog, datasets = read_catalog(branch.models), {"sums.csv": dataset(5)}
    spec = RunSpec(
        datasets=[DatasetSpec(path="sums.csv")],
        models=["remote"],
        modes=[ModeSpec(mode="generation", pattern="circular")],
    )
    plans = plan_run(spec, datasets, catalog)
    cached = count_cached(branch.database, plans, datasets)
    return kept_elsewhere(branch.database, plans, datasets, cached)
