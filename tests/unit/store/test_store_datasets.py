import json
from dataclasses import replace

import pytest
from runs_examples import dataset, sample

from evalui.errors import StoreError
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset, read_dataset


def test_a_dataset_reads_back_as_it_was(database: Database) -> None:
    given = dataset(samples=[sample(2, options=3), sample(1, naming=True)], shots=3)
    assert read_dataset(database, add_dataset(database, given)) == given


def test_the_list_tells_what_was_uploaded(database: Database) -> None:
    add_dataset(database, dataset(3, shots=2), "ada", ["a_dev.csv", "a_val.csv"], 4)
    (row,) = database.rows("SELECT * FROM dataset WHERE owner = 'ada'")
    columns = ("name", "n_samples", "n_shots", "faults")
    assert tuple(row[column] for column in columns) == ("sums", 3, 2, 4)
    assert json.loads(row["paths"]) == ["a_dev.csv", "a_val.csv"]


def test_the_same_dataset_is_kept_once(database: Database) -> None:
    assert add_dataset(database, dataset()) == add_dataset(database, dataset())
    assert len(database.rows("SELECT id FROM dataset")) == 1


def test_a_dataset_belongs_to_its_owner(database: Database) -> None:
    key = add_dataset(database, dataset(), "ada")
    with pytest.raises(StoreError, match="no dataset"):
        read_dataset(database, key, "bob")


def test_the_same_file_read_otherwise_is_another_dataset(database: Database) -> None:
    first = dataset(2)
    second = replace(first, samples=tuple(replace(s, target=0) for s in first.samples))
    keys = [add_dataset(database, first), add_dataset(database, second)]
    assert [read_dataset(database, key) for key in keys] == [first, second]


def test_a_worked_example_may_have_the_id_of_a_question(database: Database) -> None:
    given = replace(dataset(2), shots=dataset(2).samples)
    assert read_dataset(database, add_dataset(database, given)) == given
