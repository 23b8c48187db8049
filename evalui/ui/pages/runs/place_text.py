"""The place of a queued run in words; nothing of other people's runs."""

from evalui.messages import Messages
from evalui.runs.fair_queue.turns import QueuePlace

_ORDINALS = {1: "st", 2: "nd", 3: "rd"}  # by the last digit


def place_text(t: Messages, place: QueuePlace | None) -> str:
    """ "3rd in the queue"; that it waits, while that is not known."""
    if place is None or place.place is None:
        return t("runs.waits")
    n = place.place
    ending = "th" if n % 100 in (11, 12, 13) else _ORDINALS.get(n % 10, "th")
    return t("place.next") if n == 1 else t(f"place.{ending}", n=f"{n:,}")


def held_text(t: Messages, place: QueuePlace | None) -> str:
    """Why the run waits although its turn may come, "" if it only waits for its turn."""
    return t.translate(place.held) if place and place.held else ""
