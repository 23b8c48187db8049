"""What the cloze mode can be set to beside how models write.

Loaded when it is wanted: pydantic takes a tenth of a second to import.
"""

from typing import Annotated

from evalui.generation import GenerationSettings, Setting


class ClozeSettings(GenerationSettings):
    """`unconditional` is the context after which options are scored without their question; None
    takes the template's, "" the model's begin-of-text token.
    """

    unconditional: Annotated[str | None, Setting("un", honoured_by="mode")] = None
