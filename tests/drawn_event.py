"""The event with which a page asks a server for what it shows."""

from collections.abc import Mapping
from typing import Any


def drawn_event(config: Mapping[str, Any], session: str = "s") -> dict[str, Any]:
    """The event by the configuration of a page, `config?page=NAME`; its address is the query of
    the request.
    """
    (number,) = (
        each["id"]
        for each in config["dependencies"]
        if each["api_name"].startswith("apply")  # as Gradio names what a render draws
    )
    return {"fn_index": number, "data": [], "session_hash": session}
