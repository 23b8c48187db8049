"""Markup from the Jinja2 templates in `evalui/ui/templates`; whatever is not `Html` is escaped."""

from pathlib import Path

from evalui.report.markup import Templates

_TEMPLATES = Templates(Path(__file__).parent.parent / "templates")
fill, macro = _TEMPLATES.fill, _TEMPLATES.macro
