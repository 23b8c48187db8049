"""Servers of decisions: each form asked and read to the byte, found by the probe, and run."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from decision_server import DecisionBehaviour, DecisionServer, Form, Options
from endpoint_server_examples import MODEL, Reply, ToyServer, refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from evalui.errors import MissingAbility, ModelError, RequestRejected, Unreachable
from evalui.models import BACKENDS, ModelEntry
from evalui.models.base import addresses_of
from evalui.models.endpoint.backend import DecisionBackend, EndpointModel, OpenAIBackend
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.decisions import DECISION_FORMS, decision_body, decision_of
from evalui.models.endpoint.driver import RetryPolicy
from evalui.models.endpoint.protocol import RetryableError, encode, read_answer
from evalui.types import Decide, Decision, Generate, Loglik, NextToken

QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.05)
TOWNS = Decide(
    "Country: France", "Which is the capital?", (("A", "Lyon"), ("B", "Paris"), ("C", "Nice"))
)
TEXTS = Decide("", "是吗？", (("yes", "yes"), ("no", "")))
OPEN: list[EndpointModel] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def entry(*servers: ToyServer, backend: str = "openai", **options: object) -> ModelEntry:
    urls = [server.url for server in servers]
    return ModelEntry("toy model", backend, path=MODEL, options={"base_urls": urls, **options})


def opened(*servers: ToyServer, backend: str = "openai", **options: object) -> EndpointModel:
    asks = {"openai": OpenAIBackend, "decision": DecisionBackend}[backend](retry_policy=QUICK)
    model = asks.open(entry(*servers, backend=backend, **options))
    assert isinstance(model, EndpointModel)
    OPEN.append(model)
    return model


def decisions(model: EndpointModel, *requests: Decide) -> list[object]:
    found = dict(model.answer(requests))
    return [found[key] for key in range(len(requests))]


def by_length(_context: str, _question: str, options: Options) -> list[float]:
    """The shorter a text, the less probable."""
    whole = sum(len(text) for _, text in options)
    return [len(text) / whole for _, text in options]


@pytest.mark.parametrize(
    ("form", "request_", "sent"),
    [
        (
            "systemone",
            TOWNS,
            '{"model":"toy","state":"Country: France","questions":{"answer":{"type":"choice",'
            '"instructions":"Which is the capital?",'
            '"criteria":{"A":"Lyon","B":"Paris","C":"Nice"}}}}',
        ),
        (
            "systemone",
            TEXTS,
            '{"model":"toy","state":"","questions":{"answer":{"type":"choice",'
            '"instructions":"是吗？","criteria":{"yes":null,"no":null}}}}',
        ),
        (
            "decisions",
            TOWNS,
            '{"model":"toy","input":"Country: France","questions":[{"type":"choice",'
            '"instructions":"Which is the capital?","name":"answer",'
            '"choices":[{"value":"A","description":"Lyon"},{"value":"B","description":"Paris"},'
            '{"value":"C","description":"Nice"}]}]}',
        ),
        (
            "decisions",
            TEXTS,
            '{"model":"toy","input":"","questions":[{"type":"choice",'
            '"instructions":"是吗？","name":"answer","choices":[{"value":"yes"},{"value":"no"}]}]}',
        ),
        (
            "decide",
            TOWNS,
            '{"kind":"choice","state":"Country: France","question":"Which is the capital?",'
            '"options":["A. Lyon","B. Paris","C. Nice"],"thinking":"off"}',
        ),
        (
            "decide",
            TEXTS,
            '{"kind":"choice","state":"","question":"是吗？","options":["yes","no"],'
            '"thinking":"off"}',
        ),
    ],
)
def test_each_form_is_asked_to_the_byte(form: Form, request_: Decide, sent: str):
    assert encode(decision_body(form, "toy", request_)).decode() == sent


WHOLE = Decision((0.1, 0.7, 0.2), choice=1, confidence=0.6)
SYSTEMONE = (
    '{"model":"toy","answers":{"answer":{"type":"choice","choice":"B",'
    '"probabilities":{"C":0.2,"B":0.7,"A":0.1},"confidence":0.6}},'
    '"usage":{"input_tokens":9,"output_tokens":1},"diagnostics":{"x":1}}'
)
LISTED = (
    '{"answers":[{"type":"choice","name":"answer","choice":"B","confidence":0.6,"probabilities":'
    '[{"value":"B","probability":0.7},{"value":"A","probability":0.1},'
    '{"value":"C","probability":0.2}]}]}'
)
PLAIN = '{"answers":[{"choice":"B","confidence":0.6,"probabilities":[0.1,0.7,0.2]}]}'
DECIDE = (
    '{"model":"toy","kind":"choice","options":["A. Lyon","B. Paris","C. Nice"],'
    '"probabilities":[0.1,0.7,0.2],"choice_index":1,"choice":"B. Paris","confidence":0.6}'
)


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("systemone", SYSTEMONE),
        ("decisions", LISTED),
        ("decisions", PLAIN),
        ("decide", DECIDE),
    ],
)
def test_each_form_is_read_by_the_keys_of_its_options(form: Form, body: str):
    assert read(form, body) == WHOLE


def read(form: Form, body: str, request: Decide = TOWNS) -> Decision:
    answer = read_answer(body.encode())
    assert answer is not None
    return decision_of(form, answer, request)


@pytest.mark.parametrize(
    ("form", "body", "decision"),
    [
        ("systemone", '{"answers":{}}', Decision(refused=True)),
        ("systemone", '{"answers":{"answer":null}}', Decision(refused=True)),
        ("decisions", '{"answers":[{"type":"refusal","name":"answer"}]}', Decision(refused=True)),
        ("decisions", '{"answers":[]}', Decision(refused=True)),
        # Not all options have a probability: the choice is all that is known.
        ("systemone", SYSTEMONE.replace('"C":0.2,', ""), replace(WHOLE, probabilities=())),
        ("systemone", SYSTEMONE.replace('"C":0.2', '"C":null'), replace(WHOLE, probabilities=())),
        ("decide", DECIDE.replace("0.2]", "null]"), replace(WHOLE, probabilities=())),
        ("systemone", '{"answers":{"answer":{"choice":"C"}}}', Decision(choice=2)),
        # What the server names is kept, and no probability is mended.
        ("systemone", SYSTEMONE.replace(':"B"', ':"C"'), replace(WHOLE, choice=2)),
        ("decide", DECIDE.replace("0.1,", "0,"), replace(WHOLE, probabilities=(0.0, 0.7, 0.2))),
        (
            "decisions",
            '{"answers":[{"probabilities":[0.33,0.33,0.33]}]}',
            Decision((0.33, 0.33, 0.33)),
        ),
        ("decide", DECIDE.replace('"choice_index":1,', ""), WHOLE),
        ("decide", DECIDE.replace("0.1,", "-0.0,"), replace(WHOLE, probabilities=(0.0, 0.7, 0.2))),
        (
            "systemone",
            SYSTEMONE.replace('"usage":{', '"usage":{"truncated":true,'),
            replace(WHOLE, truncated=True),
        ),
        (
            "systemone",
            SYSTEMONE.replace('"usage":{', '"usage":{"truncated_questions":["answer"],'),
            replace(WHOLE, truncated=True),
        ),
        (
            "systemone",
            SYSTEMONE.replace('"usage":{', '"usage":{"truncated":false,"truncated_questions":[],'),
            WHOLE,
        ),
        (
            "decide",
            DECIDE.replace("}", ',"usage":{"state_tokens_dropped":3}}'),
            replace(WHOLE, truncated=True),
        ),
        ("decide", DECIDE.replace("}", ',"usage":{"state_tokens_dropped":0}}'), WHOLE),
    ],
)
def test_what_is_missing_or_refused_is_said_and_never_guessed(
    form: Form, body: str, decision: Decision
):
    assert repr(read(form, body)) == repr(decision)  # 0.0 is not -0.0


@pytest.mark.parametrize(
    ("form", "body", "why"),
    [
        ("systemone", SYSTEMONE.replace('"A":0.1', '"D":0.1'), "not asked about: D"),
        ("systemone", SYSTEMONE.replace(':"B"', ':"D"'), "not asked about: D"),
        ("systemone", SYSTEMONE.replace(':"B"', ":1"), "not asked about: 1"),
        ("systemone", SYSTEMONE.replace("0.7", "NaN"), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.7", "-0.7"), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.7", "1.001"), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.7", "70"), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.7", '"0.7"'), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.7", "true"), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace("0.6", '"high"'), "not numbers from 0 to 1"),
        ("systemone", SYSTEMONE.replace('"answer"', '"other"'), "another question"),
        ("systemone", SYSTEMONE.replace('"type":"choice"', '"type":"score"'), "another question"),
        ("systemone", '{"answers":{"answer":"B"}}', "without an answer"),
        ("systemone", '{"answers":{"answer":{"confidence":0.5}}}', "names no option"),
        ("systemone", '{"answers":{"answer":{"probabilities":{"A":null}}}}', "names no option"),
        ("systemone", '{"choices":[{"message":{"content":"B"}}]}', "without an answer"),
        ("systemone", '{"answers":{"answer":{"choice":"A","probabilities":0.5}}}', "not numbers"),
        ("decisions", LISTED.replace('"value":"A"', '"value":"B"'), "two probabilities: B"),
        ("decisions", LISTED.replace('"name":"answer"', '"name":"other"'), "another question"),
        ("decisions", '{"answers":[{"choice":"A"},{"choice":"B"}]}', "another question"),
        ("decisions", PLAIN.replace(",0.2", ""), "2 probabilities of 3 options"),
        ("decisions", PLAIN.replace("0.2", '{"value":"C"}'), "not numbers from 0 to 1"),
        ("decide", DECIDE.replace("[0.1,", "["), "2 probabilities of 3 options"),
        ("decide", DECIDE.replace("C. Nice", "C. Nancy"), "another question"),
        ("decide", DECIDE.replace('"kind":"choice"', '"kind":"noul"'), "another question"),
        ("decide", DECIDE.replace('"choice_index":1', '"choice_index":2'), "two options at once"),
        ("decide", DECIDE.replace('"choice_index":1', '"choice_index":3'), "not asked about: 3"),
        ("decide", DECIDE.replace('"choice_index":1', '"choice_index":-1'), "not asked about: -1"),
        ("decide", '{"detail":"ok"}', "without an answer"),
    ],
)
def test_a_malformed_answer_is_none(form: Form, body: str, why: str):
    with pytest.raises(RetryableError, match=why) as caught:
        read(form, body)
    assert caught.value.blame == "answer"


_WORDS = [
    *("answers", "answer", "type", "choice", "refusal", "probabilities", "probability", "value"),
    *("confidence", "name", "options", "choice_index", "kind", "usage", "A", "B", "C", "A. Lyon"),
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(_WORDS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=6)
    ),
    max_leaves=20,
)
_GIVEN = st.fixed_dictionaries({}, optional=dict.fromkeys(_WORDS[2:13], _JSON))


@settings(max_examples=300)
@given(
    form=st.sampled_from(DECISION_FORMS),
    answer=_GIVEN
    | st.fixed_dictionaries({"answers": st.fixed_dictionaries({"answer": _GIVEN})})
    | st.fixed_dictionaries({"answers": st.lists(_GIVEN, min_size=1, max_size=2)}),
)
def test_whatever_comes_is_a_decision_about_the_options_or_none(form: Form, answer: dict[str, Any]):
    try:
        decision = decision_of(form, answer, TOWNS)
    except RetryableError:
        return
    assert len(decision.probabilities) in (0, 3)
    assert all(0 <= each <= 1 for each in decision.probabilities)
    assert decision.choice in (None, 0, 1, 2)
    assert decision.confidence is None or 0 <= decision.confidence <= 1


@pytest.mark.parametrize("form", DECISION_FORMS)
@pytest.mark.parametrize("listing", [True, False])
def test_the_probe_finds_each_form_and_a_run_is_answered(form: Form, listing: bool):
    with DecisionServer(DecisionBehaviour(form=form, answer=by_length, listing=listing)) as server:
        model = opened(server)
        assert model.abilities == {"decide"}
        # The key's letter is part of no text: 4, 5 and 4 characters.
        expected = Decision((4 / 13, 5 / 13, 4 / 13), choice=1)
        assert decisions(model, TOWNS, TEXTS) == [expected, Decision((0.6, 0.4), choice=0)]
        seen = server.questions[-2:]
        assert sorted(each.question for each in seen) == ["Which is the capital?", "是吗？"]
        usage = model.usage()
        assert usage.prompt_tokens > 0
        assert usage.completion_tokens == len(server.questions)


@pytest.mark.parametrize("form", DECISION_FORMS)
@pytest.mark.parametrize("backend", ["openai", "decision"])
@pytest.mark.parametrize("path", ["", "/v1/{form}"])
def test_an_address_without_v1_or_of_the_route_itself_names_the_one_that_works(
    form: Form, backend: str, path: str
):
    with DecisionServer(DecisionBehaviour(form=form)) as server:
        works, server.url = server.url, server.root + path.format(form=form)
        with pytest.raises(ModelError) as caught:
            opened(server, backend=backend)
    what = {
        "openai": "answers neither chat nor completions nor decisions (",
        "decision": "answers no decisions (",
    }[backend]
    assert what in str(caught.value)
    assert f"but {works} does: make that the base URL." in str(caught.value)


@pytest.mark.parametrize("form", DECISION_FORMS)
def test_a_server_without_v1_is_taken_as_it_is(form: Form):
    with DecisionServer(DecisionBehaviour(form=form), base="") as server:
        assert opened(server).abilities == {"decide"}


@pytest.mark.parametrize(
    ("told", "backend", "says"),
    [
        ("Model not ready.", "openai", "neither chat nor completions nor decisions: {url} answers"),
        ("模型没有准备好。", "decision", "no decisions: {url} answers"),
    ],
)
def test_a_refusal_is_told_with_the_reason_of_the_route_that_is_there(
    told: str, backend: str, says: str
):
    refused = DecisionBehaviour(form="decisions", fails=lambda _: refusal(told))
    with DecisionServer(refused) as server, pytest.raises(ModelError) as caught:
        opened(server, backend=backend)
    expected = f"{server.url} answers {says.format(url=server.url)} HTTP 400: {told[:-1]}."
    assert str(caught.value) == expected


def test_an_unreadable_answer_is_why_a_server_does_not_decide():
    broken = DecisionBehaviour(alter=lambda answer: answer | {"answers": {"answer": "B"}})
    with DecisionServer(broken) as server, pytest.raises(ModelError, match="without an answer to"):
        opened(server)


def test_decisions_are_not_tried_where_chat_answers():
    with DecisionServer(DecisionBehaviour(chat=True, completions=True)) as server:
        model = opened(server)
        assert "decide" not in model.abilities
        assert server.questions == []
        with pytest.raises(MissingAbility, match='let its backend be "decision"'):
            model.jobs([TOWNS])


def asked_for_decisions(server: DecisionServer, backend: str, options: dict[str, Any]) -> None:
    model = opened(server, backend=backend, **options)
    assert model.abilities == {"decide"}
    assert decisions(model, TOWNS) == [Decision((1 / 3, 1 / 3, 1 / 3), choice=0)]
    paths = {path for path, _, _ in server.asked}
    assert paths == {"/v1/models", "/v1/systemone"}


@pytest.mark.parametrize(
    ("backend", "options"), [("openai", {"api": "decision"}), ("decision", {})]
)
def test_a_server_with_chat_is_asked_for_decisions_alone_where_the_entry_says_so(
    backend: str, options: dict[str, Any]
):
    with DecisionServer(DecisionBehaviour(chat=True, completions=True)) as server:
        asked_for_decisions(server, backend, options)


def test_one_backend_keeps_what_two_entries_of_an_address_find_apart():
    backend = OpenAIBackend()
    with DecisionServer(DecisionBehaviour(chat=True, completions=True)) as server:
        assert backend.abilities(entry(server, api="decision")) == {"decide"}
        assert "decide" not in backend.abilities(entry(server))


def test_chat_alone_takes_no_decisions():
    backend = OpenAIBackend()
    with DecisionServer() as server:
        model = entry(server, api="chat")
        assert backend.abilities(model) == frozenset()
        assert backend.missing_reasons(model)["generate"] == (
            "it answers decisions and writes no text"
        )


def test_the_backend_decision_refuses_another_interface():
    model = ModelEntry("d", "decision", MODEL, options={"base_url": "http://toy/v1", "api": "chat"})
    with pytest.raises(ModelError, match=r"options\.api must be decision, found 'chat'"):
        read_endpoint(model)
    assert BACKENDS["decision"].traits.remote


def test_the_fingerprint_names_the_form_and_the_addresses():
    found: dict[str, str] = {}
    for form in DECISION_FORMS:
        with DecisionServer(DecisionBehaviour(form=form)) as server:
            model = opened(server, replies_of="0123abcd")
            found[form] = model.fingerprint
            same = opened(server, replies_of="0123abcd", api="decision")
            assert same.fingerprint != model.fingerprint
            preset = opened(server, replies_of="0123abcd", backend="decision")
            assert preset.fingerprint == same.fingerprint
    assert len(set(found.values())) == len(DECISION_FORMS)
    assert {addresses_of(each) for each in found.values()} == {"0123abcd"}


def test_what_a_decision_server_cannot_do_is_said():
    backend = OpenAIBackend()
    with DecisionServer() as server:
        model = entry(server)
        why = "it answers decisions and writes no text"
        assert backend.missing_reasons(model) == {
            "next_token": why,
            "loglik": why,
            "generate": why,
        }
        assert not backend.sees_pictures(model)
        assert backend.text_only(model) == {
            "decide": "it is asked for decisions in text alone, without pictures"
        }
        assert backend.honours(model) == frozenset()
        assert backend.plain_only(model) == {}
        assert backend.problem(model) == ""
        for request in (NextToken("Which?", ("A", "B")), Loglik("a", "b"), Generate("a", 1)):
            with pytest.raises(MissingAbility, match=why):
                opened(server).jobs([request])


def test_a_stream_counts_refusals_and_missing_probabilities():
    behaviour = DecisionBehaviour(
        answer=by_length,
        decimals=2,
        left_out=(2,),
        refuses=lambda asked: "secret" in asked.context,
    )
    with DecisionServer(behaviour) as server:
        stream = opened(server).stream()
        secret = replace(TOWNS, context="a secret")
        stream.send([(7, TOWNS), (8, secret), (9, TEXTS)])
        found: dict[int, object] = {}
        while len(found) < 3:
            found |= {each.key: each.response for each in stream.receive(5.0)}
        stream.close()
    assert found == {
        7: Decision(choice=1),
        8: Decision(refused=True),
        9: Decision((0.6, 0.4), choice=0),
    }


def test_a_server_that_is_busy_or_answers_nonsense_is_asked_again():
    with DecisionServer() as server:
        model = opened(server)
        server.script.extend(
            [
                Reply(429, {"error": "slow down"}),
                Reply(503, {}),
                Reply(200, {"answers": {"answer": {"choice": "Z"}}}),
            ]
        )
        assert decisions(model, TOWNS) == [Decision((1 / 3, 1 / 3, 1 / 3), choice=0)]
        assert server.script == type(server.script)()


def test_an_answer_that_stays_malformed_is_rejected_with_its_reason():
    with DecisionServer() as server:
        model = opened(server, retries=1)
        # The small decision, by which the server shows that it is well, has no option C.
        server.behaviour.alter = lambda answer: json.loads(json.dumps(answer).replace("C", "Z"))
        with pytest.raises(RequestRejected, match="it was not asked about: Z"):
            decisions(model, TOWNS)


def test_a_server_that_takes_fewer_options_rejects_what_has_more_with_its_own_words():
    with DecisionServer(DecisionBehaviour(most_options=2)) as server:
        model = opened(server)
        with pytest.raises(RequestRejected, match="must have at most 2 options"):
            decisions(model, TOWNS)


@pytest.mark.parametrize("form", DECISION_FORMS)
def test_more_than_255_options_are_not_sent(form: Form):
    def many(count: int) -> Decide:
        return Decide("x", "Which?", tuple((f"k{at}", f"text {at}") for at in range(count)))

    with DecisionServer(DecisionBehaviour(form=form)) as server:
        model = opened(server)
        (decision,) = decisions(model, many(255))
        assert isinstance(decision, Decision)
        assert math.fsum(decision.probabilities) == pytest.approx(1)
        sent = len(server.asked)
        with pytest.raises(RequestRejected, match="256 options, and a decision has 255 at most"):
            decisions(model, many(256))
        assert len(server.asked) == sent


def test_another_model_is_noticed_and_a_key_extras_and_usage_go_the_usual_way():
    behaviour = DecisionBehaviour(key="k")
    with DecisionServer(behaviour) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOY_API_KEY", "k")
        model = opened(
            server,
            api_key_env="TOY_API_KEY",
            extra_body={"tier": "x", "thinking": "on"},
            headers={"X-Team": "t"},
            query={"v": "1"},
            retries=0,
        )
        decisions(model, TOWNS)
        path, body, headers = server.asked[-1]
        assert (path, body["tier"], headers["x-team"]) == ("/v1/systemone?v=1", "x", "t")
        assert model.usage().completion_tokens == 2  # of the probe and of the request
        behaviour.alter = lambda answer: answer | {"model": "another"}
        with pytest.raises(RequestRejected, match="another model answers, another instead of toy"):
            decisions(model, TOWNS)


def test_a_key_that_a_server_sends_back_is_in_no_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOY_API_KEY", "sk-never-told")
    behaviour = DecisionBehaviour(key="sk-never-told")
    with DecisionServer(behaviour) as server:
        model = opened(server, api_key_env="TOY_API_KEY", retries=0)
        named: dict[str, Any] = {"choice": f"{'x' * 295} sk-never-told"}
        for given in (
            {"answers": {"answer": named}},
            {"answers": {"answer": {"probabilities": {"sk-never-told": 1}}}},
            {"model": "sk-never-told", "answers": {}},
        ):
            behaviour.fails = lambda _, given=given: Reply(200, given)
            with pytest.raises(RequestRejected) as caught:
                decisions(model, TOWNS)
            assert "sk-" not in str(caught.value)
            assert "**" in str(caught.value)
        behaviour.fails = lambda _: Reply(200, {"answers": {"answer": {"choice": "sk-never-told"}}})
        with pytest.raises(ModelError, match=r"not asked about: \*\*\*") as refused:
            opened(server, api_key_env="TOY_API_KEY", api="decision")
        assert "sk-" not in str(refused.value)


@pytest.mark.parametrize("status", [500, 502, 503])
@pytest.mark.parametrize("backend", ["openai", "decision"])
def test_a_fault_at_one_route_hides_no_other_form(
    status: int, backend: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.endpoint.probe._FAULT_DELAY_S", 0.0)
    with _Gateway(DecisionBehaviour(form="decisions"), {"/v1/systemone": status}) as server:
        assert opened(server, backend=backend).abilities == {"decide"}


@pytest.mark.parametrize(
    ("statuses", "error", "why"),
    [
        ({"/v1/systemone": 503}, Unreachable, "HTTP 503"),
        ({"/v1/systemone": 503, "/v1/decide": 400}, ModelError, "HTTP 400"),
        ({"/v1/systemone": 503, "/v1/decide": 401}, ModelError, "refuses the key"),
    ],
)
def test_a_fault_passes_and_what_is_said_beside_it_stays(
    statuses: dict[str, int], error: type[Exception], why: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.endpoint.probe._FAULT_DELAY_S", 0.0)
    with _Gateway(None, statuses) as server, pytest.raises(ModelError, match=why) as caught:
        opened(server, backend="decision")
    assert type(caught.value) is error


class _Gateway(DecisionServer):
    """Answers with these statuses at some paths, and at others what lies behind; None: nothing."""

    def __init__(self, behaviour: DecisionBehaviour | None, statuses: dict[str, int]) -> None:
        super().__init__(behaviour)
        self._statuses, self._is_empty = statuses, behaviour is None

    def made(self, path: str, body: dict[str, Any]) -> Reply:
        if status := self._statuses.get(path) or (404 if self._is_empty else 0):
            return Reply(status, {"error": {"message": "told"}})
        return super().made(path, body)


def test_the_fields_of_a_decision_are_evaluis_own():
    for name in ("state", "questions", "question"):
        model = entry(backend="openai", extra_body={name: "x"})
        with pytest.raises(ModelError, match=f"must not have {name}"):
            read_endpoint(replace(model, options=model.options | {"base_urls": ["http://toy/v1"]}))


def test_the_refusal_of_decisions_is_told_before_that_of_chat():
    behaviour = DecisionBehaviour(chat=True, fails=lambda _: refusal("The state is too short"))
    behaviour.refused = dict.fromkeys(["messages"], refusal("This is no chat model"))
    with DecisionServer(behaviour) as server, pytest.raises(ModelError) as caught:
        opened(server)
    assert str(caught.value).endswith("HTTP 400: The state is too short.")


def test_whether_a_server_is_well_is_asked_by_a_decision():
    faulty = Reply(500, {"error": {"message": "no"}})
    fails = DecisionBehaviour(fails=lambda asked: faulty if "France" in asked.context else None)
    with DecisionServer(fails) as server:
        model = opened(server, retries=0)
        server.asked.clear()
        with pytest.raises(RequestRejected, match="HTTP 500"):
            decisions(model, TOWNS)
        assert {each.context for each in server.questions} == {TOWNS.context, "The ball is red."}
        assert {path for path, _, _ in server.asked} <= {"/v1/systemone", "/v1/models"}


def test_servers_of_one_model_share_a_form_or_none():
    with (
        DecisionServer(DecisionBehaviour(form="decisions")) as one,
        DecisionServer(DecisionBehaviour(form="decisions")) as same,
        DecisionServer(DecisionBehaviour(form="decide")) as other,
    ):
        shared = opened(one, same)
        assert shared.abilities == {"decide"}
        assert decisions(shared, TEXTS) == [Decision((0.5, 0.5), choice=0)]
        assert opened(one, other).abilities == frozenset()
