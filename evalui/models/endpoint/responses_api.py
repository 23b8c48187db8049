"""OpenAI's Responses API, for models that have nothing else: its questions and answers as chat's.

So that everything else knows one form only: what goes out is made of a chat request, and what
comes back is read as if chat had sent it.
"""

from collections.abc import Mapping

from evalui.models.endpoint.json_values import Json, as_list, as_object

PATH = "responses"
_MIN_TOKENS = 16  # the API refuses fewer
_LIMIT_FIELDS = ("max_completion_tokens", "max_tokens")
# What the API does not take, or takes under another name.
_OTHER_FIELDS = ("messages", "stop", "seed", *_LIMIT_FIELDS)
_FINISH_REASONS: Mapping[str, str] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}


def to_responses_request(body: Json) -> Json:
    """A request to chat in the form of the Responses API. Nothing is kept at the server."""
    sent = {field: value for field, value in body.items() if field not in _OTHER_FIELDS}
    limit = next((body[field] for field in _LIMIT_FIELDS if field in body), _MIN_TOKENS)
    return {
        "input": body["messages"],
        "max_output_tokens": max(_MIN_TOKENS, limit),
        "store": False,
        **sent,
    }


def as_chat_answer(answer: Json) -> Json:
    """An answer of the Responses API in the form of chat's; without a choice if it has no output.

    A status that says neither that the reply is whole nor why it was cut is no reason to end.
    """
    if "output" not in answer:
        return answer
    content: list[object] = []
    thoughts: list[object] = []
    reason = "stop" if answer.get("status") == "completed" else None
    if answer.get("status") == "incomplete":
        why = str(as_object(answer.get("incomplete_details")).get("reason"))
        reason = _FINISH_REASONS.get(why)
    for item in map(as_object, as_list(answer["output"])):
        kind = item.get("type")
        if kind == "message":
            content += as_list(item.get("content"))
        elif kind == "reasoning":
            listed = as_list(item.get("summary")) + as_list(item.get("content"))
            thoughts += [as_object(part) | {"type": "reasoning"} for part in listed]
        else:
            reason = "tool_calls"
    refusals = [as_object(part).get("refusal") for part in content]
    refusal = next((each for each in refusals if each), None)
    message: Json = {"role": "assistant", "content": [*thoughts, *content] or None}
    if refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return answer | {"choices": [choice]}
