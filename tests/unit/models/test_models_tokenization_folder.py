import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from evalui.errors import ModelError
from evalui.models.local.weights import honoured_settings
from evalui.models.tokenization import HFTokenizer, encode_contexts, encode_pairs
from evalui.types import Message


def save(folder: Path, *, begins: bool = False, **special: Any) -> Path:
    """A byte-level tokenizer of single characters, which may begin each text with <s>."""
    characters = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {text: place for place, text in enumerate(characters)}
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    if begins:
        raw.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    PreTrainedTokenizerFast(tokenizer_object=raw, **special).save_pretrained(folder)
    return folder


def test_a_begin_token_is_the_lead_and_the_start(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path, begins=True, bos_token="<s>"))
    assert (tokenizer.bos_ids, tokenizer.empty_context_id) == ((0,), 0)
    assert tokenizer.unusual_prefix == ()


def test_all_tokens_that_are_put_before_a_text_are_the_lead(tmp_path: Path):
    """GLM has two, neither of which is a begin token; what is put behind a text is left out."""
    folder = save(tmp_path, eos_token="</s>")
    raw = Tokenizer.from_file(str(folder / "tokenizer.json"))
    raw.add_special_tokens(["[gMASK]", "<sop>"])
    ids = [(text, raw.token_to_id(text)) for text in ("[gMASK]", "<sop>", "</s>")]
    raw.post_processor = processors.TemplateProcessing(
        single="[gMASK] <sop> $A </s>", special_tokens=ids
    )
    raw.save(str(folder / "tokenizer.json"))
    tokenizer = HFTokenizer("toy", folder)
    assert tokenizer.bos_ids == (ids[0][1], ids[1][1])
    assert tokenizer.unusual_prefix == ("[gMASK]", "<sop>")
    (context,) = encode_contexts(tokenizer, ["A"], limit=9)
    assert context.ids == (*tokenizer.bos_ids, *tokenizer.encode(["A"])[0])
    (pair,) = encode_pairs(tokenizer, [("", "A")], limit=9)
    assert pair.context == tokenizer.bos_ids


def test_a_tokenizer_with_code_of_its_own_is_refused_with_a_way_out(tmp_path: Path):
    settings = {"auto_map": {"AutoTokenizer": ["tokenization_x.X", None]}, "tokenizer_class": "X"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="code of its own, which is never run"):
        HFTokenizer("toy", tmp_path)


def test_encoding_adds_nothing_by_itself(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path, begins=True, bos_token="<s>"))
    assert tokenizer.decode(tokenizer.encode(["hi"])[0]) == "hi"
    assert len(tokenizer.encode(["hi"])[0]) == 2


def test_a_begin_token_that_is_not_put_before_texts_is_no_lead(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path, bos_token="<s>", eos_token="</s>"))
    assert (tokenizer.bos_ids, tokenizer.empty_context_id) == ((), 0)


def test_without_a_begin_token_the_end_token_is_the_start(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path, eos_token="</s>"))
    assert (tokenizer.bos_ids, tokenizer.empty_context_id, tokenizer.eos_ids) == (
        (),
        1,
        frozenset({1}),
    )


def test_without_either_there_is_no_start(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path))
    assert (tokenizer.empty_context_id, tokenizer.eos_ids) == (None, frozenset())


def test_special_tokens_are_spelt_but_not_decoded(tmp_path: Path):
    tokenizer = HFTokenizer("toy", save(tmp_path, eos_token="</s>"))
    ids = [*tokenizer.encode(["A"])[0], 1]
    assert tokenizer.decode(ids) == "A"
    assert tokenizer.spell(ids) == ["A", "</s>"]


def test_no_texts_are_no_tokens(small_folder: Path):
    assert HFTokenizer("small", small_folder).encode([]) == []


def test_a_conversation_ends_where_the_models_turn_begins(small_folder: Path):
    text = HFTokenizer("small", small_folder).render([Message("user", "Which?")])
    assert text.endswith("<|im_start|>user\nWhich?<|im_end|>\n<|im_start|>assistant\n")


def test_a_conversation_needs_a_chat_template(tmp_path: Path):
    with pytest.raises(ModelError, match="toy has no chat template"):
        HFTokenizer("toy", save(tmp_path)).render([Message("user", "Which?")])


def test_a_broken_tokenizer_is_reported_with_the_models_name(tmp_path: Path):
    save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[1")
    with pytest.raises(ModelError, match="tokenizer of toy cannot be loaded"):
        HFTokenizer("toy", tmp_path)


@pytest.mark.parametrize(("thinking", "expected"), [("", "-"), ("on", "yes"), ("off", "no")])
def test_a_chat_template_is_told_whether_to_think(thinking: str, expected: str, tmp_path: Path):
    switch = (
        "{% if enable_thinking is not defined %}-"
        "{% elif enable_thinking %}yes{% else %}no{% endif %}"
    )
    tokenizer = HFTokenizer("toy", save(tmp_path, chat_template=switch))
    assert tokenizer.render([Message("user", "Q")], thinking) == expected
    assert "thinking" in honoured_settings(str(tmp_path))


def test_a_template_without_a_switch_cannot_be_told_to_think(tmp_path: Path):
    assert "thinking" not in honoured_settings(str(save(tmp_path, chat_template="{{ 1 }}")))
