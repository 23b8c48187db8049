"""A tab as the page knows them, for the tests of what stands around it."""

from evalui.errors import SpecError
from evalui.report.html import Html, div, el
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action, go


class ExampleTab:
    """Shows the form it is given, and answers each way a tab can."""

    def render(self, form: Form) -> Html:
        if field_value(form, "cell") == "nonsense":
            raise SpecError("setting", name="cell", reason="no number")
        return div(el("h1", "Midterm"), el("p", f"cell {field_value(form, 'cell')}"))

    def act(self, action: Action) -> Html | None:
        match action.do:
            case "share":
                return go("runs?run=k3f")
            case "poll":
                return None
            case _:
                return self.render(action.form)
