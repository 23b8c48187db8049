"""A desk with scripted models, a small file, and a finished run."""

from desk_examples import act, become, desk, finished, form_for, usual_run

__all__ = ["act", "become", "desk", "finished", "form_for", "usual_run"]
