"""Answers that many request at once are made once."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from evalui.ui.web.newest import NewestAnswers


class Maker:
    """Makes answers, and counts them."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, answer: str) -> Callable[[], Awaitable[str]]:
        async def make() -> str:
            self.made.append(answer)
            await asyncio.sleep(0)
            if answer == "fails":
                raise ZeroDivisionError
            return answer

        return make


def test_those_who_ask_at_once_get_one_answer_and_the_next_version_another():
    make, answers = Maker(), NewestAnswers[str](8)

    async def ask() -> None:
        first = await asyncio.gather(*(answers.find("key", 1, make("one")) for _ in range(20)))
        assert set(first) == {"one"}
        assert await answers.find("key", 2, make("two")) == "two"
        assert await answers.find("other", 2, make("three")) == "three"
        assert await answers.find("key", 2, make("four")) == "two"

    asyncio.run(ask())
    assert make.made == ["one", "two", "three"]


def test_an_error_reaches_all_who_wait_and_is_not_kept():
    make, answers = Maker(), NewestAnswers[str](8)

    async def ask() -> None:
        waiting = [answers.find("key", 1, make("fails")) for _ in range(3)]
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(each) for each in failed] == [ZeroDivisionError] * 3
        assert await answers.find("key", 1, make("again")) == "again"

    asyncio.run(ask())
    assert make.made == ["fails", "again"]


def test_who_goes_away_leaves_the_others_their_answer():
    make, answers = Maker(), NewestAnswers[str](8)

    async def ask() -> str:
        first = asyncio.ensure_future(answers.find("key", 1, make("one")))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(answers.find("key", 1, make("two")))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(ask()) == "one"
    assert make.made == ["one"]


def test_the_answers_that_were_wanted_last_stay():
    make, answers = Maker(), NewestAnswers[str](2)

    async def ask() -> None:
        for key in ("a", "b", "a", "c", "a", "b"):
            await answers.find(key, 1, make(key))

    asyncio.run(ask())
    assert make.made == ["a", "b", "c", "b"]
