-- The tables of a store. A change of them raises the version, and `scripts/convert_store.py` learns
-- how a store of the version before comes to it. To drop a table is to delete its statements.
--
-- Secrets that people carry (cookies, tokens, links) are stored as SHA-256 digests in hexadecimal,
-- so that a copy of the store opens no door. Times are seconds since 1970.

PRAGMA user_version = 19;

-- ------------------------------------------------------------------------------- questions, runs

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
) STRICT;

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
) STRICT;

-- Worked examples may repeat an id of the scored rows; scored rows may not.
CREATE UNIQUE INDEX sample_by_id ON sample (dataset, id) WHERE role = 'sample';

-- Pictures of questions, equal ones once: `body` is a PNG, JPEG or WebP file and `sha256` its digest,
-- `small` is one for pages.
CREATE TABLE picture (
    sha256 TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    small BLOB NOT NULL
) STRICT;

-- `id` is that of marks: which picture they stand for is up to the dataset that they are in.
CREATE TABLE dataset_picture (
    dataset INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
    id TEXT NOT NULL,
    picture TEXT NOT NULL REFERENCES picture,
    PRIMARY KEY (dataset, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX dataset_by_picture ON dataset_picture (picture);

CREATE TRIGGER picture_unused AFTER DELETE ON dataset_picture
WHEN NOT EXISTS (SELECT 1 FROM dataset_picture WHERE picture = OLD.picture) BEGIN
    DELETE FROM picture WHERE sha256 = OLD.picture;
END;

-- `left_out` is what a run was given and does not evaluate, as JSON; `everyone` with an account may
-- see it, or those who may by other reasons.
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
    revision INTEGER NOT NULL DEFAULT 0,
    left_out TEXT NOT NULL DEFAULT '[]',
    priority INTEGER NOT NULL DEFAULT 0,
    everyone INTEGER NOT NULL DEFAULT 0 CHECK (everyone IN (0, 1))
) STRICT;

CREATE INDEX run_by_queue ON run (state, queued);

CREATE INDEX run_by_owner ON run (owner, created);

-- One number that grows with every change of any run: each run keeps its own last one.
CREATE TABLE clock (revision INTEGER NOT NULL) STRICT;

INSERT INTO clock VALUES (0);

-- `waits` is why it waits; `bytes` are of the answers that were written to it; `gives` is what its
-- mode gives, which decides its figures; `width` is how many requests its model is sent at a time,
-- 0 where that is not counted; `done` to `tied` and `unreferenced` are counted as trials are written,
-- so that the page that polls never reads them. `replies` is how many kept ones of each source it rests on, and
-- `changes` what the servers of its model said of it that was not so all the time, both as JSON.
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
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    waits TEXT NOT NULL DEFAULT '',
    unreferenced INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    gives TEXT NOT NULL DEFAULT 'choices' CHECK (gives IN ('choices', 'answers', 'verdicts')),
    computes_here INTEGER NOT NULL DEFAULT 1,
    width INTEGER NOT NULL DEFAULT 0,
    max_width INTEGER NOT NULL DEFAULT 0,
    replies TEXT NOT NULL DEFAULT '[]',
    changes TEXT NOT NULL DEFAULT '[]',
    UNIQUE (run, place)
) STRICT;

-- ---------------------------------------------------------------------------------------- trials

-- Which trials a cell has, and their texts; what they hold of numbers is in a block, by the id. It is
-- stated, since an implicit one may change when the file is compacted; one that was given is not
-- given again.
CREATE TABLE trial (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    sample TEXT NOT NULL,
    variant TEXT NOT NULL,
    reply TEXT,
    turns TEXT,
    thoughts TEXT,
    UNIQUE (cell, sample, variant)
) STRICT;

-- By the id of its first trial; see column_blocks.py.
CREATE TABLE trial_block (
    cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    first INTEGER NOT NULL,
    n INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (cell, first)
) STRICT;

-- What was computed of a cell when it had ended with so many trials, by a version of figures.
CREATE TABLE kept_figures (
    cell INTEGER PRIMARY KEY REFERENCES cell ON DELETE CASCADE,
    version TEXT NOT NULL,
    done INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- Answers that a run brings along: the worker grades them, and a judge's cell may wait for them.
CREATE TABLE answer (
    cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    sample TEXT NOT NULL,
    turns TEXT NOT NULL,
    PRIMARY KEY (cell, sample)
) STRICT, WITHOUT ROWID;

-- Whose replies are kept: of which model, requested by which run, from when on.
CREATE TABLE reply_source (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    run TEXT NOT NULL,
    made REAL NOT NULL,
    UNIQUE (model, run, fingerprint)
) STRICT;

-- Of replies that evalui kept before it noted their source there is none.
CREATE TABLE response (
    request BLOB PRIMARY KEY,
    body TEXT NOT NULL,
    source INTEGER REFERENCES reply_source
) STRICT, WITHOUT ROWID;

-- ------------------------------------------------------------------------------ workers and models

-- `own_device` is the device that it was started for, "" for any; `keeps` whether it only keeps its
-- model loaded for the next run.
CREATE TABLE worker (
    name TEXT PRIMARY KEY,
    seen REAL NOT NULL,
    device TEXT NOT NULL,
    model TEXT NOT NULL,
    run TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    own_device TEXT NOT NULL DEFAULT '',
    keeps INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Models to be tried out.
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
) STRICT;

-- The last speeds of a model in a mode, in requests per second: the time that is left of a run.
CREATE TABLE pace (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    shots INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    rate REAL NOT NULL
) STRICT;

CREATE INDEX pace_of_mode ON pace (model, mode, shots);

-- ----------------------------------------------------------------------------------- people's votes

-- Votes on pairs of answers, sides as they were shown. `pair` is the same for whoever looks at the
-- two answers, and `owner` the name of who did; "skip" is no verdict, but done with. `assigned`:
-- whether the pair was assigned to them. A vote that was `imported` with a file is over.
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
    assigned INTEGER NOT NULL DEFAULT 0 CHECK (assigned IN (0, 1)),
    imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)),
    UNIQUE (run, owner, pair)
) STRICT;

-- Who was shown the names of a run's models votes on it no more.
CREATE TABLE voter (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    owner TEXT NOT NULL,
    finished REAL NOT NULL,
    PRIMARY KEY (run, owner)
) STRICT, WITHOUT ROWID;

-- Pairs of a run that are voted on by `overlap` of the people that are named.
CREATE TABLE voting_plan (
    run TEXT PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    overlap INTEGER NOT NULL CHECK (overlap > 0),
    created REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE assigned_voter (
    run TEXT NOT NULL REFERENCES voting_plan ON DELETE CASCADE,
    person TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (run, person)
) STRICT, WITHOUT ROWID;

CREATE INDEX assigned_voter_by_person ON assigned_voter (person);

-- Who leads a run may end the vote of all.
CREATE TABLE closed_vote (
    run TEXT PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    person TEXT NOT NULL,
    closed REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What was decided on a pair on which people differ, the sides as they were shown.
CREATE TABLE adjudication (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    pair TEXT NOT NULL,
    person TEXT NOT NULL,
    shown_left TEXT NOT NULL,
    shown_right TEXT NOT NULL CHECK (shown_right != shown_left),
    outcome TEXT NOT NULL CHECK (outcome IN ('a', 'b', 'tie', 'neither')),
    comment TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    PRIMARY KEY (run, pair)
) STRICT, WITHOUT ROWID;

-- A link by which people without an account vote on one run, under a name they state.
CREATE TABLE guest_link (
    digest TEXT PRIMARY KEY,
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    owner TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    revoked REAL
) STRICT, WITHOUT ROWID;

-- `address` is from where they came, as a digest: one visitor must not take all seats of a link.
CREATE TABLE guest (
    digest TEXT PRIMARY KEY,
    link TEXT NOT NULL REFERENCES guest_link ON DELETE CASCADE,
    name TEXT NOT NULL,
    created REAL NOT NULL,
    seen REAL NOT NULL,
    address TEXT NOT NULL DEFAULT '',
    UNIQUE (link, name)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------- people, doors

-- Who may sign in. `password` is an argon2 hash, "" if there is none. `limits` are JSON:
-- what differs from the server's own.
CREATE TABLE person (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('reader', 'annotator', 'operator', 'admin')),
    password TEXT NOT NULL DEFAULT '',
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created REAL NOT NULL,
    seen REAL,
    limits TEXT NOT NULL DEFAULT '{}'
) STRICT, WITHOUT ROWID;

-- A link by which a person chooses a password, once.
CREATE TABLE invitation (
    digest TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
    created REAL NOT NULL,
    expires REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- It ends at `expires`, or after `idle` seconds without a request.
CREATE TABLE session (
    digest TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
    created REAL NOT NULL,
    seen REAL NOT NULL,
    idle REAL NOT NULL,
    expires REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_person ON session (person);

-- `key` is a name or an address that a sign-in was refused for.
CREATE TABLE sign_in_failure (key TEXT NOT NULL, at REAL NOT NULL) STRICT;

CREATE INDEX sign_in_failure_by_key ON sign_in_failure (key, at);

CREATE TABLE api_token (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
    label TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    used REAL,
    expires REAL
) STRICT;

-- Nothing is ever changed or deleted here. `detail` is JSON and holds no secret.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    person TEXT NOT NULL,
    deed TEXT NOT NULL,
    thing TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- What people uploaded; the files are in the folder of the owner.
CREATE TABLE upload (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created REAL NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

-- A frozen page: it refers to no run, so that it outlives the one it was made of. `pages` is JSON
-- by language, compressed by zlib; `title` is shown in the list of links.
CREATE TABLE share (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    revoked REAL,
    opened INTEGER NOT NULL DEFAULT 0,
    last_opened REAL,
    pages BLOB NOT NULL,
    csv BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What a sender calls a request that started a run, so that sending it again starts no other.
CREATE TABLE request_key (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    created REAL NOT NULL,
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_key_by_run ON request_key (run);

-- What an administrator has decided while the server runs, as JSON by name.
CREATE TABLE decision (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- When a run of a person was last taken: turns go round between people.
CREATE TABLE turn (owner TEXT PRIMARY KEY, taken REAL NOT NULL) STRICT, WITHOUT ROWID;

-- What runs of a person took on a day (UTC, as 2026-11-22); it stays when a run is deleted.
CREATE TABLE spending (
    owner TEXT NOT NULL,
    day TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    dollars REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------- notices

-- A note to a person that a run of theirs has ended.
CREATE TABLE notice (
    id INTEGER PRIMARY KEY,
    person TEXT NOT NULL,
    run TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    created REAL NOT NULL,
    seen REAL
) STRICT;

CREATE INDEX notice_by_person ON notice (person, seen);

-- In the transaction that ends the run; one that its owner stops needs no note.
CREATE TRIGGER run_end_noticed AFTER UPDATE OF state ON run
WHEN NEW.state IN ('done', 'failed') AND OLD.state != NEW.state BEGIN
    INSERT INTO notice (person, run, name, state, created)
    VALUES (NEW.owner, NEW.id, NEW.name, NEW.state, coalesce(NEW.finished, 0));
END;
