"""The Evaluate page's choices: models, modes, parameters, the cost, where texts are sent."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState, base_of
from evalui.models.endpoint.http.addresses import external_hosts, shown_host
from evalui.modes import MODES
from evalui.modes.prompts.templates import TEMPLATES, Template
from evalui.report.html import Html, div, el, join
from evalui.report.numbers import dollars
from evalui.runs.estimate import Estimate
from evalui.runs.spec import JUDGE, ModeSpec
from evalui.settings import Settings
from evalui.types import Ability, DatasetKind
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import duration, format_large_count
from evalui.ui.components.widgets import button, chips, definitions, field, note, select, titled
from evalui.ui.services.run_form import CUSTOM, OPEN_TOKENS, PATTERNS, SPELLINGS, TOKENS

ABILITIES: tuple[Ability, ...] = ("next_token", "loglik", "generate")
CHOICE: DatasetKind = "multiple_choice"
_MODE_ORDER = ("multiple_choice", "generation", "cloze")  # the usual order; other modes follow


def models_card(t: Messages, states: Sequence[ModelState], form: Form) -> Html:
    """One option per model of the catalog, with what it can do and why it cannot be chosen."""
    chosen = field_values(form, "models")
    needs: Mapping[str, Ability] = {
        mode: _needed(form, mode) for mode in field_values(form, "modes") if mode in MODES
    }
    able = [state for state in states if not state.entry.judges_only]
    states = sorted(
        able, key=lambda state: state.entry.baseline
    )  # also those added here come first
    options = [
        join(
            _model(t, state, state.entry.name in chosen, needs),
            _with_base(t, state, states, chosen),
        )
        for state in states
    ]
    count = sum(state.entry.name in chosen and not state.problem for state in states)
    return titled(
        t("models.title"), *options, aside=t("choose.of", n=count, total=len(states)), cls="models"
    )


def preselected(t: Messages, names: Sequence[str]) -> Html:
    """Which models an address chooses, shown until there is a file."""
    chosen = t("preselected.chosen", names=t("list.comma").join(names))
    return div(note("ok", chosen), cls="preselected")


def fitting_modes(kinds: Collection[DatasetKind]) -> list[str]:
    """The modes that fit one of the kinds; judges have a card of their own."""
    names = sorted(MODES, key=_rank)
    return [name for name in names if name != JUDGE and set(MODES[name].kinds) & set(kinds)]


def modes_card(
    t: Messages,
    states: Sequence[ModelState],
    form: Form,
    *,
    kinds: Collection[DatasetKind] = (CHOICE,),
) -> Html:
    """One option per mode that fits the files, greyed out when no model at hand can do it."""
    chosen, fitting = field_values(form, "modes"), fitting_modes(kinds)
    able: set[Ability] = {
        ability for state in states if not state.problem for ability in state.abilities
    }
    options = [_mode(t, name, name in chosen, _needed(form, name), able) for name in fitting]
    count = sum(name in chosen for name in fitting)
    return titled(
        t("modes.title"),
        *options,
        aside=t("choose.of", n=count, total=len(options)),
        cls="modes",
    )


def settings_card(t: Messages, form: Form, *, kinds: Collection[DatasetKind] = (CHOICE,)) -> Html:
    """What the files leave to decide: orders, worked examples and prompt need options."""
    choice = CHOICE in kinds
    orders = [
        _order(t, pattern, (field_value(form, "pattern") or "circular") == pattern)
        for pattern in PATTERNS
    ]
    per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
    usual = [TOKENS] * choice + [OPEN_TOKENS] * (set(kinds) != {CHOICE})
    fields = div(
        field(
            t("set.shots"),
            _input("shots", field_value(form, "shots") or "0"),
            hint=t("set.shots_hint"),
        )
        if choice
        else None,
        field(
            t("set.limit"),
            _input(
                "limit", field_value(form, "limit"), inputmode="numeric", placeholder=t("set.all")
            ),
            hint=t(f"set.limit_hint_{per}"),
        ),
        field(
            t("set.limit_per"),
            select(
                "limit_per",
                {name: t(f"set.per_{name}") for name in ("subject", "dataset")},
                per,
            ),
        ),
        field(t("set.template"), select("template", _templates(t), field_value(form, "template")))
        if choice
        else None,
        field(t("set.chat"), select("chat", _chats(t), field_value(form, "chat"))),
        field(
            t("set.spellings"),
            select("spellings", _spellings(t), field_value(form, "spellings")),
            hint=t("set.spellings_hint"),
        )
        if choice
        else None,
        field(
            t("set.max_tokens"),
            _input(
                "max_tokens",
                field_value(form, "max_tokens"),
                inputmode="numeric",
                placeholder=" / ".join(str(tokens) for tokens in usual),
            ),
        ),
        field(t("set.seed"), _input("seed", field_value(form, "seed") or "0", inputmode="numeric")),
        field(
            t("set.name"), _input("name", field_value(form, "name"), placeholder=t("set.name_hint"))
        ),
        cls="fields",
    )
    return titled(
        t("set.title"),
        el("fieldset", el("legend", t("orders.title"), cls="hidden"), *orders) if choice else None,
        div(fields, cls="gap" if choice else None),
        own_template(t, form) if choice else None,
    )


def own_template(t: Messages, form: Form) -> Html:
    """The text fields of a template of the user's own, hidden until it is chosen."""
    base = TEMPLATES["plain-zh.1" if t.language == "zh" else "plain-en.1"]
    fields = [
        field(t("own.name"), _input("own_name", field_value(form, "own_name") or "my-prompt.1")),
        field(
            t("own.language"),
            select(
                "own_language",
                {"zh": "中文", "en": "English"},
                field_value(form, "own_language") or t.language,
            ),
        ),
        *(_block(t, form, base, name) for name in ("question", "cloze", "answer", "unconditional")),
    ]
    return div(
        el("p", t("own.about"), cls="meta gap"),
        div(*fields, cls="fields gap-s"),
        hidden=field_value(form, "template") != CUSTOM,
    )


def cost_rows(
    t: Messages, cost: Estimate, *, ahead: int, questions: int
) -> tuple[tuple[str, str], ...]:
    """What the run will send and cost, in words and figures."""
    time = t("cost.unknown")
    if cost.seconds is not None:
        time = t("cost.about", time=duration(t, cost.seconds))
    judged = ((t("cost.judged"), f"{cost.judged:,}"),) if cost.judged else ()
    price = t("cost.about_dollars", n=dollars(cost.dollars)) if cost.dollars is not None else ""
    return (
        (t("cost.questions"), f"{questions:,}"),
        (t("cost.requests"), f"{cost.requests:,}"),
        *judged,
        (t("cost.tokens"), t("cost.about", time=format_large_count(cost.tokens))),
        (t("cost.cached"), f"{cost.cached:,}"),
        *(((t("cost.dollars"), price),) if price else ()),
        (t("cost.time"), time),
        (t("cost.queue"), t.count("cost.runs", ahead) if ahead else t("cost.none")),
    )


def cost_card(
    t: Messages,
    rows: Sequence[tuple[str, str]],
    *,
    problems: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Html:
    """The cost and the Start button, which is off, with the reason, while it cannot work."""
    return titled(
        t("cost.title"),
        definitions(rows) if rows else None,
        *(div(note("warn", warning), cls="gap-s") for warning in warnings),
        *(div(note("na", problem), cls="gap-s") for problem in problems),
        div(
            button(t("cost.start"), "start", cls="pri lg", disabled=bool(problems), data_once=True),
            cls="gap",
        ),
        cls="cost",
    )


def _model(t: Messages, state: ModelState, chosen: bool, needs: Mapping[str, Ability]) -> Html:
    entry = state.entry
    size = t("models.parameters", n=f"{entry.parameters / 1e6:.3g}") if entry.parameters else ""
    place = "backend.openai" if traits_of(entry).remote else "models.local"
    kind = t("models.baseline") if entry.baseline else t(place)
    about = entry.options.get("notes_zh", entry.notes) if t.language == "zh" else entry.notes
    lacking: Mapping[str, Ability] = {
        mode: ability for mode, ability in needs.items() if ability not in state.abilities
    }
    why = t.translate(state.problem) or (
        _unavailable_modes(t, state, lacking) if lacking and chosen else ""
    )
    return el(
        "label",
        _box(
            "models",
            entry.name,
            entry.name,
            on=chosen and not state.problem,
            off=bool(state.problem),
        ),
        div(
            el("h3", entry.name),
            div(" · ".join(part for part in (kind, size) if part), cls="meta"),
            div(str(about), cls="meta") if about else None,
            remote_hosts_of(t, entry),
            chips(
                (t(f"ability.{ability}"), "" if ability in state.abilities else "no")
                for ability in ABILITIES
            ),
            div(why, cls="why") if why else None,
        ),
        cls="opt",
    )


def _needed(form: Form, mode: str) -> Ability:
    """What a mode needs of a model with the spellings that the form chooses."""
    return ModeSpec(
        mode=mode, spellings=SPELLINGS.get(field_value(form, "spellings"), "common")
    ).ability


def _unavailable_modes(t: Messages, state: ModelState, lacking: Mapping[str, Ability]) -> str:
    """The modes that a model cannot do, with its own reasons where it gives any."""
    modes = t("list.comma").join(t(f"mode.{mode}") for mode in lacking)
    reasons = (state.missing_reasons.get(ability, "") for ability in lacking.values())
    why = t("list.semicolon").join(
        dict.fromkeys(t.translate(reason) for reason in reasons if reason)
    )
    return t("catalog.skips", modes=modes, why=why) if why else t("models.skips", modes=modes)


def _with_base(
    t: Messages, state: ModelState, states: Sequence[ModelState], chosen: Collection[str]
) -> Html | None:
    """Below a tuned model that is chosen: its base, to be compared with it in the same run."""
    base = base_of(state.entry, [other.entry for other in states if not other.problem])
    if base is None or state.problem or state.entry.name not in chosen:
        return None
    if base.name in chosen:
        return div(t("preselected.with_base_on", name=base.name), cls="meta with-base")
    word = t("preselected.with_base", name=base.name)
    box = _box("models", base.name, word, on=False, off=False)
    return div(el("label", box, word, cls="tick"), cls="with-base")


def _mode(t: Messages, name: str, chosen: bool, needed: Ability, able: set[Ability]) -> Html:
    return el(
        "label",
        _box(
            "modes", name, t(f"mode.{name}"), on=chosen and needed in able, off=needed not in able
        ),
        div(
            el("h3", t(f"mode.{name}")),
            div(t(f"mode.{name}_about"), cls="meta"),
            chips([(t("modes.needs", what=t(f"ability.{needed}")), "")]),
            None if needed in able else div(t("modes.nobody"), cls="why"),
        ),
        cls="opt",
    )


def _rank(mode: str) -> int:
    return _MODE_ORDER.index(mode) if mode in _MODE_ORDER else len(_MODE_ORDER)


def _order(t: Messages, pattern: str, chosen: bool) -> Html:
    box = el(
        "input",
        type="radio",
        name="pattern",
        value=pattern,
        checked=chosen,
        aria_label=t(f"orders.{pattern}"),
    )
    about = div(el("h3", t(f"orders.{pattern}")), div(t(f"orders.{pattern}_about"), cls="meta"))
    return el("label", box, about, cls="opt")


def _box(name: str, value: str, spoken: str, *, on: bool, off: bool) -> Html:
    return el(
        "input",
        type="checkbox",
        name=name,
        value=value,
        aria_label=spoken,
        data_many=True,
        checked=on,
        disabled=off,
    )


def _input(name: str, value: str, **attributes: str) -> Html:
    return el("input", type="text", name=name, value=value, autocomplete="off", **attributes)


def _block(t: Messages, form: Form, base: Template, name: str) -> Html:
    # A text area swallows one line break at its beginning.
    text = field_value(form, f"own_{name}") or getattr(base, name)
    area = el("textarea", Html("\n"), join(text), name=f"own_{name}", rows=4, spellcheck="false")
    return field(t(f"own.{name}"), area)


def _templates(t: Messages) -> Mapping[str, str]:
    return (
        {"": t("set.template_auto")}
        | {name: name for name in TEMPLATES}
        | {CUSTOM: t("set.template_own")}
    )


def _chats(t: Messages) -> Mapping[str, str]:
    return {"": t("set.chat_auto"), "yes": t("set.chat_yes"), "no": t("set.chat_no")}


def _spellings(t: Messages) -> Mapping[str, str]:
    return {name: t(f"set.spellings_{name}") for name in SPELLINGS}


def remote_destinations(
    t: Messages, catalog: Mapping[str, ModelEntry], form: Form, settings: Settings
) -> list[str]:
    """A sentence for each model and judge chosen that is sent texts elsewhere; none if all stay."""
    judges = field_values(form, "judges") if "yes" in field_values(form, "judging") else ()
    models = [name for name in field_values(form, "models") if name not in judges]
    names = {"sends": models, "judges": judges}
    sentences = [
        t(f"away.{key}", name=name, hosts=t("list.comma").join(hosts))
        for key, chosen in names.items()
        for name in chosen
        if name in catalog and (hosts := external_hosts(catalog[name]))
    ]
    return [*sentences, *_cluster_host(t, settings)]


def destination_sentences(t: Messages, sentences: list[str]) -> Html:
    """Where the file goes: the sentences of `remote_destinations`, or that it stays."""
    return div(*(div(sentence) for sentence in sentences or [t("away.stays")]))


def remote_hosts_of(t: Messages, entry: ModelEntry, key: str = "to") -> Html | None:
    """The hosts that a model at choice sends the questions to; None if they stay here."""
    hosts = external_hosts(entry)
    return div(t(f"away.{key}", hosts=t("list.comma").join(hosts)), cls="meta") if hosts else None


def _cluster_host(t: Messages, settings: Settings) -> Iterator[str]:
    """An address is that of a cluster which may have machines of its own; "" starts one here."""
    if settings.engine == "ray" and settings.ray_address:
        yield t("away.cluster", host=shown_host(settings.ray_address))
