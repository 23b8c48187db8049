"""All that the screen can do: each use case that changes something by a route, or with a reason."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import evalui
from evalui.access import Deed
from evalui.app.permissions import permission_of

ROOT = Path(evalui.__file__).parent
SAMPLE = "it uploads files that are shipped and starts a run: POST /datasets, then POST /runs"
BALLOT, DISPUTES = "GET /runs/{run_id}/ballot", "GET /runs/{run_id}/disagreements"
SERVER = "it shows what the server is like, as GET /metrics and `evalui doctor` do"
REASONS: Mapping[str, str] = {
    "count_sessions": SERVER,
    "decided_pairs": DISPUTES,
    "disputed_pair": DISPUTES,
    "list_failures": SERVER,
    "list_largest_runs": SERVER,
    "list_queue": "GET /queue",
    "list_settings": SERVER,
    "list_share_links": "GET /links",
    "own_verdicts": BALLOT,
    "possible_voters": "GET /runs/{run_id}/voters",
    "read_disk": SERVER,
    "read_upload_bytes": SERVER,
    "start_open_sample": SAMPLE,
    "start_sample": SAMPLE,
    "store_upload": "POST /datasets",
    "voter_state": BALLOT,
}


def reached(folder: str) -> Iterator[tuple[str, str]]:
    """What the modules of a folder take of `app`: modules, and names in them."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree, modules = ast.parse(path.read_text(encoding="utf-8")), dict[str, str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "evalui.app":
                modules |= {each.asname or each.name: each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evalui.app."):
                yield from ((node.module or "", each.name) for each in node.names)
        for node in ast.walk(tree):
            taken_of = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(taken_of, ast.Name) and taken_of.id in modules:
                yield f"evalui.app.{modules[taken_of.id]}", node.attr


def deeds(folder: str) -> Mapping[str, Deed]:
    """The use cases that the modules of a folder take, with what each requires."""
    found: dict[str, Deed] = {}
    for module, name in set(reached(folder)):
        declared = permission_of(getattr(import_module(module), name))
        if declared and declared.deed:
            found[name] = declared.deed
    return found


def test_what_the_screen_does_a_program_can_do_or_there_is_a_reason():
    by_route = deeds("api")
    missing = {name for name, deed in deeds("ui").items() if deed != "see" and name not in by_route}
    assert missing == set(REASONS)
