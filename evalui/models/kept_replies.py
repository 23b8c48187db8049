"""A model that is known and not asked: what it has replied before is all that there is."""

from collections.abc import Iterator, Sequence

from evalui.errors import ModelError
from evalui.models.base import Model, is_nondeterministic
from evalui.types import Request, Response


class KeptReplies:
    """Stands for `model` where only replies that are kept may be used."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint  # by which its replies are found
        self.abilities = model.abilities
        self.is_nondeterministic = is_nondeterministic(model)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Nothing: raises `ModelError`, for these requests have no reply that is kept."""
        raise ModelError("only-kept-replies", model=self.name, n=len(requests))

    def close(self) -> None:
        """Nothing is held; whoever opened the model closes it."""
