"""What axe-core finds on a page."""

from pathlib import Path
from typing import Any

AXE = Path(__file__).parent / "axe" / "axe.min.js"
FOUND = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
      `${id}: ${html.slice(0, 200)} ${failureSummary.split("\\n").slice(1, 2)}`));
}"""


def violations(tab: Any, address: str, theme: str) -> list[str]:
    """What axe-core finds on a page, serious or critical."""
    tab.goto(f"{address}&__theme={theme}")
    tab.wait_for_function("document.body.dataset.ready !== undefined")
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    return tab.evaluate(FOUND)
