"""Errors as application/problem+json (RFC 9457), as every door and route answers them."""

from http import HTTPStatus

from fastapi.responses import JSONResponse, Response

from evalui.web.schemas import Problem

_MEDIA_TYPE = "application/problem+json"


def problem_answer(
    status: int, key: str, detail: str, headers: dict[str, str] | None = None, **more: str
) -> Response:
    """A problem: its `key` and its sentence; `more` are further members."""
    problem = Problem(
        type=f"urn:evalui:error:{key}" if key else "about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        key=key,
    )
    return JSONResponse(problem.model_dump() | more, status, headers, media_type=_MEDIA_TYPE)
