"""The place of a queued run and when it starts, in words; nothing of other people's runs."""

from evalui.messages import Messages
from evalui.runs.fair_queue.place import QueuePlace
from evalui.ui.components.format import duration

_ORDINALS = {1: "st", 2: "nd", 3: "rd"}  # by the last digit


def place_text(t: Messages, place: QueuePlace | None) -> str:
    """ "3rd in the queue · starts in about 12 min"; that it waits, while neither is known."""
    if place is None or place.place is None:
        return t("runs.waits")
    n = place.place
    ending = "th" if n % 100 in (11, 12, 13) else _ORDINALS.get(n % 10, "th")
    nth = t("place.next") if n == 1 else t(f"place.{ending}", n=f"{n:,}")
    return " · ".join(filter(None, (nth, start_text(t, place))))


def start_text(t: Messages, place: QueuePlace) -> str:
    """ "starts in about 12 min", "" while that is not known."""
    if place.starts_in_s is None:
        return ""
    if not place.starts_in_s:
        return t("place.now")
    return t("place.starts", time=duration(t, place.starts_in_s))


def held_text(t: Messages, place: QueuePlace | None) -> str:
    """Why the run waits although its turn may come, "" if it only waits for its turn."""
    return t.translate(place.held) if place and place.held else ""
