"""The schema, as numbered steps that only go forward.

A step that has been released is never edited: a change is a new step at the end. Each step is a
tuple of statements and functions and runs whole or not at all.
"""

import sqlite3
import time
from collections.abc import Callable

from evalui.errors import StoreError
from evalui.runs.database.schema.shared_box import SHARED_BOX
from evalui.runs.database.schema.trials_to_columns import move_trials_to_columns

_FIRST = (
    """
    CREATE TABLE dataset (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        paths TEXT NOT NULL,
        n_samples INTEGER NOT NULL,
        n_shots INTEGER NOT NULL,
        faults INTEGER NOT NULL,
        created REAL NOT NULL,
        UNIQUE (owner, key)
    ) STRICT
    """,
    """
    CREATE TABLE sample (
        dataset INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        role TEXT NOT NULL CHECK (role IN ('sample', 'shot')),
        place INTEGER NOT NULL,
        id TEXT NOT NULL,
        line INTEGER NOT NULL,
        subject TEXT NOT NULL,
        question TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (dataset, role, place)
    ) STRICT
    """,
    # Worked examples may repeat an id of the scored rows; scored rows may not.
    "CREATE UNIQUE INDEX sample_by_id ON sample (dataset, id) WHERE role = 'sample'",
    """
    CREATE TABLE run (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        created REAL NOT NULL,
        queued REAL NOT NULL,
        started REAL,
        finished REAL,
        cancelling INTEGER NOT NULL DEFAULT 0,
        worker TEXT NOT NULL DEFAULT '',
        attempt INTEGER NOT NULL DEFAULT 0,
        beat REAL NOT NULL DEFAULT 0,
        losses INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        revision INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX run_by_queue ON run (state, queued)",
    "CREATE INDEX run_by_owner ON run (owner, created)",
    """
    CREATE TABLE cell (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
        place INTEGER NOT NULL,
        dataset INTEGER NOT NULL REFERENCES dataset,
        source TEXT NOT NULL,
        dataset_name TEXT NOT NULL,
        model TEXT NOT NULL,
        mode TEXT NOT NULL,
        label TEXT NOT NULL,
        pattern TEXT NOT NULL,
        signature TEXT NOT NULL,
        fingerprint TEXT NOT NULL DEFAULT '',
        plan TEXT NOT NULL,
        questions INTEGER NOT NULL,
        total INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        state TEXT NOT NULL,
        error TEXT NOT NULL DEFAULT '',
        traceback TEXT NOT NULL DEFAULT '',
        started REAL,
        finished REAL,
        written REAL,
        seconds REAL NOT NULL DEFAULT 0,
        rate REAL,
        done INTEGER NOT NULL DEFAULT 0,
        origin_n INTEGER NOT NULL DEFAULT 0,
        origin_credit REAL NOT NULL DEFAULT 0,
        unreadable INTEGER NOT NULL DEFAULT 0,
        tied INTEGER NOT NULL DEFAULT 0,
        UNIQUE (run, place)
    ) STRICT
    """,
    # `body` is last: a query that does not need it need not read it.
    """
    CREATE TABLE trial (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        sample TEXT NOT NULL,
        variant TEXT NOT NULL,
        origin INTEGER NOT NULL,
        target INTEGER NOT NULL,
        choice INTEGER,
        credit REAL NOT NULL,
        tied INTEGER NOT NULL,
        rule TEXT NOT NULL,
        reply TEXT,
        body TEXT NOT NULL,
        PRIMARY KEY (cell, sample, variant)
    ) STRICT
    """,
    # Counted as they are written, so that the page that polls never reads the trials, and by the
    # database itself, so that a trial written twice is counted once.
    """
    CREATE TRIGGER trial_counted AFTER INSERT ON trial BEGIN
        UPDATE cell SET
            done = done + 1,
            origin_n = origin_n + NEW.origin,
            origin_credit = origin_credit + NEW.origin * NEW.credit,
            unreadable = unreadable + (NEW.choice IS NULL AND NOT NEW.tied),
            tied = tied + NEW.tied
        WHERE id = NEW.cell;
    END
    """,
    """
    CREATE TABLE response (
        request BLOB PRIMARY KEY,
        body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # What a model did last in a mode: the time a run will take, and which responses it has.
    """
    CREATE TABLE pace (
        model TEXT NOT NULL,
        mode TEXT NOT NULL,
        shots INTEGER NOT NULL,
        fingerprint TEXT NOT NULL,
        rate REAL NOT NULL,
        PRIMARY KEY (model, mode, shots)
    ) STRICT
    """,
    # One number that grows with every change of any run: each run keeps its own last one.
    "CREATE TABLE clock (revision INTEGER NOT NULL) STRICT",
    "INSERT INTO clock VALUES (0)",
)

# Errors become `codec.encode_sentence`: the text alone, since its key was not stored.
_SECOND = (
    "UPDATE run SET error = json_array(error) WHERE error != ''",
    "UPDATE cell SET error = json_array(error) WHERE error != ''",
)

# Votes on pairs of answers, sides as they were shown. `pair` is the same for whichever
# looks at the two answers, and `owner` the name of who did; "skip" is no verdict, but done with.
_THIRD = (
    """
    CREATE TABLE vote (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
        owner TEXT NOT NULL,
        pair TEXT NOT NULL,
        dataset TEXT NOT NULL,
        sample TEXT NOT NULL,
        shown_left TEXT NOT NULL,
        shown_right TEXT NOT NULL CHECK (shown_right != shown_left),
        outcome TEXT NOT NULL CHECK (outcome IN ('a', 'b', 'tie', 'neither', 'skip')),
        comment TEXT NOT NULL,
        seconds REAL,
        created REAL NOT NULL,
        UNIQUE (run, owner, pair)
    ) STRICT
    """,
    # Who was shown the names of a run's models votes on it no more.
    """
    CREATE TABLE voter (
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
        owner TEXT NOT NULL,
        finished REAL NOT NULL,
        PRIMARY KEY (run, owner)
    ) STRICT, WITHOUT ROWID
    """,
)

# Answers that a run brings along: the worker grades them, and a judge's cell may wait for them.
_FOURTH = (
    """
    CREATE TABLE answer (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        sample TEXT NOT NULL,
        turns TEXT NOT NULL,
        PRIMARY KEY (cell, sample)
    ) STRICT, WITHOUT ROWID
    """,
)

# What endpoints charge for, why a cell waits, what each worker is at, and models to be tried out.
_FIFTH = (
    "ALTER TABLE cell ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE cell ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE cell ADD COLUMN waits TEXT NOT NULL DEFAULT ''",
    """
    CREATE TABLE worker (
        name TEXT PRIMARY KEY,
        seen REAL NOT NULL,
        device TEXT NOT NULL,
        model TEXT NOT NULL,
        run TEXT NOT NULL,
        bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE trial_of_model (
        id INTEGER PRIMARY KEY,
        model TEXT NOT NULL,
        owner TEXT NOT NULL,
        entry TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
        worker TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL,
        finished REAL,
        outcome TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
)

# What a judge by rule could not judge for lack of a reference is counted apart from what cannot be
# read. It is marked by one of these sentences, and was prompted once more for nothing.
_UNDECIDED = """
    SELECT t.cell, t.sample, t.variant
    FROM trial t JOIN cell c ON c.id = t.cell AND c.mode = 'judge'
    JOIN sample s ON s.dataset = c.dataset AND s.role = 'sample' AND s.id = t.sample
    WHERE t.choice IS NULL AND json_extract(s.body, '$[3]') = '[]' AND t.reply IN (
        'This rule needs a reference answer and a form it knows; it cannot decide here.',
        '本规则需要参考答案和已知的作答格式，这里无法评判。'
    )
"""
_SIXTH = (
    "ALTER TABLE cell ADD COLUMN unreferenced INTEGER NOT NULL DEFAULT 0",
    f"""
    UPDATE trial SET body = replace(body, '"' || rule || '"', '"no-reference"'),
        rule = 'no-reference'
    WHERE (cell, sample, variant) IN ({_UNDECIDED})
    """,  # noqa: S608 (a constant)
    """
    UPDATE cell SET unreferenced = found.n, unreadable = unreadable - found.n
    FROM (SELECT cell, count(*) AS n FROM trial WHERE rule = 'no-reference' GROUP BY cell) AS found
    WHERE cell.id = found.cell
    """,
    "DROP TRIGGER trial_counted",
    """
    CREATE TRIGGER trial_counted AFTER INSERT ON trial BEGIN
        UPDATE cell SET
            done = done + 1,
            origin_n = origin_n + NEW.origin,
            origin_credit = origin_credit + NEW.origin * NEW.credit,
            unreadable = unreadable
                + (NEW.choice IS NULL AND NOT NEW.tied AND NEW.rule != 'no-reference'),
            unreferenced = unreferenced + (NEW.rule = 'no-reference'),
            tied = tied + NEW.tied
        WHERE id = NEW.cell;
    END
    """,
)

# The size in tokens of the requests by which a speed was measured, and how long models load.
_SEVENTH = (
    "ALTER TABLE pace ADD COLUMN sent REAL NOT NULL DEFAULT 0",
    "ALTER TABLE pace ADD COLUMN distinct_ REAL NOT NULL DEFAULT 0",
    "ALTER TABLE pace ADD COLUMN written REAL NOT NULL DEFAULT 0",
    """
    CREATE TABLE loading (
        model TEXT NOT NULL,
        cold INTEGER NOT NULL CHECK (cold IN (0, 1)),
        worker TEXT NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (model, cold)
    ) STRICT, WITHOUT ROWID
    """,
)

# What a run was given and does not evaluate, as JSON.
_EIGHTH = ("ALTER TABLE run ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]'",)

# Figures are computed from columns; the statements stand beside the function.
_NINTH = (
    move_trials_to_columns,
    # What was computed of a cell when it had ended with so many trials, by a version of figures.
    """
    CREATE TABLE kept_figures (
        cell INTEGER PRIMARY KEY REFERENCES cell ON DELETE CASCADE,
        version TEXT NOT NULL,
        done INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT
    """,
)

# From where a guest came, as a digest: one visitor must not take all seats of a link.
_ELEVENTH = (
    "ALTER TABLE guest ADD COLUMN address TEXT NOT NULL DEFAULT ''",
    # A vote that came with a file is over; who leads a run may end the vote of all.
    "ALTER TABLE vote ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1))",
    """
    CREATE TABLE closed_vote (
        run TEXT PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        person TEXT NOT NULL,
        closed REAL NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)
# What a model thought before it replied.
_TWELFTH = ("ALTER TABLE trial ADD COLUMN thoughts TEXT",)
# What the mode of a cell gives, which decides its figures; before, two modes said it by name.
_THIRTEENTH = (
    "ALTER TABLE cell ADD COLUMN gives TEXT NOT NULL DEFAULT 'choices'"
    " CHECK (gives IN ('choices', 'answers', 'verdicts'))",
    "UPDATE cell SET gives = 'answers' WHERE mode = 'question_answer'",
    "UPDATE cell SET gives = 'verdicts' WHERE mode = 'judge'",
)

# Several speeds of a model in a mode, not its last one alone: how far they lie apart is told.
_FOURTEENTH = (
    "ALTER TABLE pace RENAME TO last_pace",
    """
    CREATE TABLE pace (
        id INTEGER PRIMARY KEY,
        model TEXT NOT NULL,
        mode TEXT NOT NULL,
        shots INTEGER NOT NULL,
        fingerprint TEXT NOT NULL,
        rate REAL NOT NULL,
        sent REAL NOT NULL,
        distinct_ REAL NOT NULL,
        written REAL NOT NULL
    ) STRICT
    """,
    "INSERT INTO pace (model, mode, shots, fingerprint, rate, sent, distinct_, written)"
    " SELECT model, mode, shots, fingerprint, rate, sent, distinct_, written"
    " FROM last_pace ORDER BY rowid",
    "DROP TABLE last_pace",
    "CREATE INDEX pace_of_mode ON pace (model, mode, shots)",
)

# Whether a cell's model computes where its worker is. Of runs from before that, all may.
_FIFTEENTH = ("ALTER TABLE cell ADD COLUMN computes_here INTEGER NOT NULL DEFAULT 1",)
# How many requests a cell's model is sent at a time, and at most; 0 where that is not counted.
_WIDTH_IN_USE = (
    "ALTER TABLE cell ADD COLUMN width INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE cell ADD COLUMN max_width INTEGER NOT NULL DEFAULT 0",
)
# Whose replies are kept: of which model, requested by which run, from when on; and how many of each
# a cell rests on, as JSON. Of those that earlier versions kept it is not known.
_REPLY_SOURCES = (
    """
    CREATE TABLE reply_source (
        id INTEGER PRIMARY KEY,
        model TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        run TEXT NOT NULL,
        made REAL NOT NULL,
        UNIQUE (model, run, fingerprint)
    ) STRICT
    """,
    "ALTER TABLE response ADD COLUMN source INTEGER REFERENCES reply_source",
    "ALTER TABLE cell ADD COLUMN replies TEXT NOT NULL DEFAULT '[]'",
    # What the servers of its model said of it that was not so all the time: sentences as JSON.
    "ALTER TABLE cell ADD COLUMN changes TEXT NOT NULL DEFAULT '[]'",
)

Step = tuple[str | Callable[[sqlite3.Connection], None], ...]
MIGRATIONS: tuple[Step, ...] = (
    _FIRST,
    _SECOND,
    _THIRD,
    _FOURTH,
    _FIFTH,
    _SIXTH,
    _SEVENTH,
    _EIGHTH,
    _NINTH,
    SHARED_BOX,
    _ELEVENTH,
    _TWELFTH,
    _THIRTEENTH,
    _FOURTEENTH,
    _FIFTEENTH,
    _WIDTH_IN_USE,
    _REPLY_SOURCES,
)


def migrate(connection: sqlite3.Connection, steps: tuple[Step, ...]) -> None:
    """Bring the schema up to date; `connection` is inside a write transaction.

    Raises:
        StoreError: a newer version of evalui wrote the file.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, applied REAL NOT NULL)"
        " STRICT"
    )
    (applied,) = connection.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()
    if applied > len(steps):
        raise StoreError("newer-schema", found=applied, known=len(steps))
    for number, statements in enumerate(steps[applied:], start=applied + 1):
        for statement in statements:
            if isinstance(statement, str):
                connection.execute(statement)
            else:
                statement(connection)
        connection.execute("INSERT INTO migration VALUES (?, ?)", (number, time.time()))
