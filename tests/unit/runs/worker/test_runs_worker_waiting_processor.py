"""One run at a time computes here, and one that has nothing to compute lets others in."""

import pytest

from evalui.runs.worker.waiting import Processor


def test_who_came_first_has_it_until_they_leave():
    processor = Processor()
    assert processor.try_take("first")
    assert not processor.try_take("second")
    assert not processor.is_free
    processor.leave("first")
    assert processor.is_free


def test_what_is_offered_counts_as_free_for_one_other_run():
    processor, checked = Processor(), []
    processor.try_take("judge")
    assert not processor.offer("judge")
    assert processor.is_free

    def gives_way() -> None:
        checked.append(processor.offer("judge"))
        assert not processor.is_free, "one waits already"
        processor.leave("judge")

    processor.wait("other", gives_way)
    assert checked == [True]
    assert not processor.is_free, "the next holder has offered nothing"


def test_what_is_computed_again_is_not_free():
    processor = Processor()
    processor.try_take("judge")
    processor.offer("judge")
    processor.withdraw("judge")
    assert not processor.is_free


def test_only_the_holder_offers_it():
    processor = Processor()
    processor.try_take("first")

    class Stop(Exception):
        pass

    def stop() -> None:
        assert not processor.offer("second")
        assert not processor.is_free
        raise Stop

    with pytest.raises(Stop):
        processor.wait("second", stop)
