"""What a model wrote, on a page: Markdown and formulas, and nothing that loads or runs."""

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from ui_examples import HOSTILE

from evalui.ui.components import texts
from evalui.ui.components.formulas import math_files

render_markdown = partial(texts.render_markdown, figure=str)
TAGS = re.compile(r"<([a-z][a-z0-9-]*)", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("a **b** `c`", "<p>a <strong>b</strong> <code>c</code></p>"),
        ("one\ntwo", "<p>one<br />\ntwo</p>"),
        ("# Head", "<h3>Head</h3>"),
        ("###### Deep", "<h6>Deep</h6>"),
        ("- x\n- y", "<ul>\n<li>x</li>\n<li>y</li>\n</ul>"),
        ("~~old~~", "<p><s>old</s></p>"),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b\n</code></pre>'),
        ("", ""),
    ],
)
def test_markdown_becomes_markup(text: str, markup: str):
    assert render_markdown(text).strip() == markup


def test_a_table_is_a_table():
    assert "<td>1</td>" in render_markdown("|a|b|\n|-|-|\n|1|2|")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("so $x^2$.", "<p>so <ev-math>x^2</ev-math>.</p>"),
        (r"so \(a_1 * b * c\)", "<p>so <ev-math>a_1 * b * c</ev-math></p>"),
        ("设 $x$，则$y$。", "<p>设 <ev-math>x</ev-math>，则<ev-math>y</ev-math>。</p>"),
        ("so $$x$$ there", "<p>so <ev-math data-display>x</ev-math> there</p>"),
        ("$$\nx\n=\n- y\n$$", "<ev-math data-display>x\n=\n- y</ev-math>"),
        ("\\[\na\n\\]\nso", "<ev-math data-display>a</ev-math><p>so</p>"),
        ("$a < b$", "<p><ev-math>a &lt; b</ev-math></p>"),
    ],
)
def test_a_formula_keeps_its_tex(text: str, formula: str):
    assert render_markdown(text).strip() == formula


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "`$x$`",
        "```\n$x$\n```",
        r"\$5\$",
        "$$x",
        "a $ b $ c",
        "$$\nx\n\ny\n$$",
        r"\( \)",
    ],
)
def test_money_and_code_are_no_formulas(text: str):
    assert "<ev-math" not in render_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        f"`x`\n\n{HOSTILE}\n",
        f"$${HOSTILE}$$",
        f"[{HOSTILE}](http://a.b)",
        f"![{HOSTILE}](http://a.b/c.png)",
        f"```{HOSTILE}\n{HOSTILE}\n```",
        "<style>*{display:none}</style><form action=/><input><button>x</button></form>",
        '<div style="position:fixed;inset:0">over everything</div>',
        "<ev-math><img src=x></ev-math>",
    ],
)
def test_html_in_a_text_is_shown_and_not_obeyed(text: str):
    allowed = {"p", "a", "code", "pre", "ev-math", "br", "h3"}
    assert set(TAGS.findall(render_markdown(text))) <= allowed
    assert not re.search(r"<[^>]*\s(on\w+|style)=", render_markdown(text))


@pytest.mark.parametrize("address", ["javascript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_a_link_that_would_run_is_no_link(address: str):
    assert "<a" not in render_markdown(f"[x]({address})")
    assert "<a" not in render_markdown(f"![x]({address})")


def test_an_image_is_not_loaded_but_linked():
    shown = render_markdown('![a "cat"](http://a.b/c.png "title")')
    assert "<img" not in shown
    assert 'href="http://a.b/c.png"' in shown
    assert "![a &#34;cat&#34;](http://a.b/c.png)</a>" in shown


def test_a_link_opens_beside_the_page_and_tells_nothing():
    assert 'target="_blank" rel="noopener noreferrer nofollow"' in render_markdown(
        "[x](http://a.b)"
    )


def test_katex_is_where_gradio_keeps_it():
    script, sheet = math_files()
    gradio = find_spec("gradio")  # to import it takes seconds
    assert gradio
    assert gradio.origin
    folder = Path(gradio.origin).parent / "templates" / "frontend"
    assert "export{" in (folder / script).read_text(encoding="utf-8")[-200:]
    assert ".katex" in (folder / sheet).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "piece",
    ["$$\n", "$$a\n", "$$a\nb\n$$\n", "\\[a\n", "\\(a ", "$a ", "> \\[a\n", "- \\[a\n", "[", "*a "],
)
@pytest.mark.timeout(60)
def test_marks_without_end_are_read_in_no_time(piece: str):
    text = piece * (2_000_000 // len(piece))
    assert render_markdown(text + "\n\n\\]")


def test_a_text_beyond_what_is_read_goes_on_as_plain_text():
    line = "**bold** <b>\n"
    shown = render_markdown(line * 4000)
    assert shown.count("<strong>") == 20_000 // len(line)
    _, rest = shown.split("<p>…</p><pre>")
    assert "**bold** &lt;b&gt;\n" * (4000 - 20_000 // len(line)) + "</pre>" == rest
    assert render_markdown("x" * 20_001).endswith("<p>…</p><pre>x</pre>")
    assert "…" not in render_markdown("x" * 20_000)


def test_a_formula_that_does_not_end_leaves_the_next_one_alone():
    shown = render_markdown("\\[a\n\\[b\n\n\\[c\nd\\]\n\n> \\[e\n> f\\]")
    assert re.findall("<ev-math data-display>([^<]*)", shown) == ["c\nd", "e\nf"]
