from dataclasses import replace

import pytest
from runs_examples import dataset, sample

from evalui.errors import StoreError
from evalui.runs.database.store import Store


def test_a_dataset_reads_back_as_it_was(store: Store) -> None:
    given = dataset(samples=[sample(2, options=3), sample(1, naming=True)], shots=3)
    assert store.dataset(store.add_dataset(given)) == given


def test_the_list_tells_what_was_uploaded(store: Store) -> None:
    store.add_dataset(dataset(3, shots=2), "ada", ["a_dev.csv", "a_val.csv"], 4)
    (row,) = store.datasets("ada")
    assert (row.name, row.n_samples, row.n_shots, row.faults) == ("sums", 3, 2, 4)
    assert row.paths == ("a_dev.csv", "a_val.csv")


def test_the_same_dataset_is_kept_once(store: Store) -> None:
    assert store.add_dataset(dataset()) == store.add_dataset(dataset())
    assert len(store.datasets()) == 1


def test_a_dataset_belongs_to_its_owner(store: Store) -> None:
    key = store.add_dataset(dataset(), "ada")
    assert store.datasets("bob") == []
    with pytest.raises(StoreError, match="no dataset"):
        store.dataset(key, "bob")


def test_the_same_file_read_otherwise_is_another_dataset(store: Store) -> None:
    first = dataset(2)
    second = replace(first, samples=tuple(replace(s, target=0) for s in first.samples))
    keys = [store.add_dataset(first), store.add_dataset(second)]
    assert [store.dataset(key) for key in keys] == [first, second]


def test_a_worked_example_may_have_the_id_of_a_question(store: Store) -> None:
    given = replace(dataset(2), shots=dataset(2).samples)
    assert store.dataset(store.add_dataset(given)) == given
