"""HTML that cannot be injected: every text becomes safe on its way into an element.

Only `Html` is trusted, and only `el` makes it; whatever comes from files or models is a plain
string and is escaped.
"""

from html import escape

_VOID = frozenset({"input", "br", "img", "hr", "link"})


class Html(str):
    """Markup that is safe to send as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Itself: templates take it for markup."""
        return self


Child = Html | str | int | None
Attribute = str | float | bool | None


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """One element. `cls` is its class, `data_run` becomes data-run, True is a bare attribute.

    None and "" children are left out, so are attributes that are None or False.

    >>> el("p", "a < b", cls="meta")
    '<p class="meta">a &lt; b</p>'
    """
    opening = f"<{name}{_attributes(attributes)}>"
    return Html(opening if name in _VOID else f"{opening}{join(*children)}</{name}>")


def join(*children: Child, separator: str = "") -> Html:
    """The children one after the other, made safe; `separator` is escaped too."""
    parts = [_safe(child) for child in children if child is not None and child != ""]
    return Html(escape(separator).join(parts))


def div(*children: Child, **attributes: Attribute) -> Html:
    """A <div>, the commonest element."""
    return el("div", *children, **attributes)


def span(*children: Child, **attributes: Attribute) -> Html:
    """A <span>."""
    return el("span", *children, **attributes)


def _safe(child: Html | str | int) -> str:
    return child if isinstance(child, Html) else escape(str(child))


def _attributes(attributes: dict[str, Attribute]) -> str:
    return "".join(
        f" {_attribute_name(name)}" + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )


def _attribute_name(name: str) -> str:
    return "class" if name == "cls" else name.rstrip("_").replace("_", "-")
