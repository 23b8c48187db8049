"""What a use case requires of whom it acts for: declared beside it, checked with each call.

A test finds a use case of `app` that declares nothing.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from evalui.access import Deed

P = ParamSpec("P")
T = TypeVar("T")


class CheckedService(Protocol):
    """What a use case is called with, or belongs to."""

    def require(self, deed: Deed, run_id: str = "") -> None:
        """Raise `NotAllowed` unless the person may do a deed, at all or with a run."""


S = TypeVar("S", bound=CheckedService)
UseCase = Callable[Concatenate[S, P], T]


@dataclass(frozen=True, slots=True)
class Permission:
    """What a use case requires: a deed, done to the run that its parameter `run` names, if any.

    Where `deed` is None it looks for itself, `by` states at what.
    """

    deed: Deed | None
    run: str = ""
    by: str = ""


def requires(deed: Deed, run: str = "") -> Callable[[UseCase[S, P, T]], UseCase[S, P, T]]:
    """Have a use case raise `NotAllowed` before anything else unless the person may do a deed.

    `run` is the name of the parameter that holds the id of the run it is done to; of one that the
    person does not see the use case raises `UnknownRun`.
    """

    def declare(use_case: UseCase[S, P, T]) -> UseCase[S, P, T]:
        signature = inspect.signature(use_case)
        assert not run or run in signature.parameters, f"no parameter {run}"

        @wraps(use_case)
        def checked(service: S, *arguments: P.args, **named: P.kwargs) -> T:
            given = signature.bind(service, *arguments, **named).arguments if run else {}
            service.require(deed, str(given[run]) if run else "")
            return use_case(service, *arguments, **named)

        setattr(checked, _DECLARED, Permission(deed, run))
        return checked

    return declare


def checks(by: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Declare that a use case decides for itself what it does for whom; `by` states at what."""

    def declare(use_case: Callable[P, T]) -> Callable[P, T]:
        setattr(use_case, _DECLARED, Permission(None, by=by))
        return use_case

    return declare


def permission_of(use_case: Callable[..., object]) -> Permission | None:
    """What a use case declares, None if that is nothing."""
    declared = getattr(use_case, _DECLARED, None)
    return declared if isinstance(declared, Permission) else None


_DECLARED = "permission"  # an attribute of a use case
