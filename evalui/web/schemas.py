"""What every door and route states of an error."""

from pydantic import BaseModel, ConfigDict


class Problem(BaseModel):
    """RFC 9457. `detail` is a sentence in the Accept-Language, `key` names it in any language."""

    model_config = ConfigDict(frozen=True, from_attributes=True, populate_by_name=True)

    type: str
    title: str
    status: int
    detail: str
    key: str
