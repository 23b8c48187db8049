"""A chart as an image in the clipboard."""

import base64
from typing import Any

READ = """async () => {
  const [item] = await navigator.clipboard.read();
  const bytes = new Uint8Array(await (await item.getType("image/png")).arrayBuffer());
  return btoa(String.fromCharCode(...bytes.slice(0, 32)));
}"""


def test_a_chart_is_copied_as_it_is_seen(page: Any, run_id: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/en/results?run={run_id}")
    card = page.locator(".card:has(table.lead)").first
    card.hover()
    card.get_by_role("button", name="Copy as image").click()
    card.get_by_role("button", name="Copied").wait_for()
    header = base64.b64decode(page.evaluate(READ))
    assert header.startswith(b"\x89PNG")
    shown = card.bounding_box()
    size = (int.from_bytes(header[16:20]), int.from_bytes(header[20:24]))
    assert abs(size[0] - 2 * shown["width"]) <= 2
    assert abs(size[1] - 2 * shown["height"]) <= 2
