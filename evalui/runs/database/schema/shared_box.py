"""The tables of a box that people share: accounts, teams, links, the queue, and who did what.

Secrets that people carry (cookies, tokens, links) are stored as SHA-256 digests in hexadecimal, so
that a copy of the store opens no door. Times are seconds since 1970.
"""

_PEOPLE = (
    # Who may sign in. `password` is an argon2 hash, "" if there is none. `limits` and `preferences`
    # are JSON: what differs from the server's own.
    """
    CREATE TABLE person (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL CHECK (role IN ('reader', 'annotator', 'operator', 'admin')),
        password TEXT NOT NULL DEFAULT '',
        disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
        created REAL NOT NULL,
        seen REAL,
        limits TEXT NOT NULL DEFAULT '{}',
        preferences TEXT NOT NULL DEFAULT '{}'
    ) STRICT, WITHOUT ROWID
    """,
    # A link by which a person chooses a password, once.
    """
    CREATE TABLE invitation (
        digest TEXT PRIMARY KEY,
        person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
        created REAL NOT NULL,
        expires REAL NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # It ends at `expires`, or after `idle` seconds without a request.
    """
    CREATE TABLE session (
        digest TEXT PRIMARY KEY,
        person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
        created REAL NOT NULL,
        seen REAL NOT NULL,
        idle REAL NOT NULL,
        expires REAL NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX session_by_person ON session (person)",
    # `key` is a name or an address that a sign-in was refused for.
    "CREATE TABLE sign_in_failure (key TEXT NOT NULL, at REAL NOT NULL) STRICT",
    "CREATE INDEX sign_in_failure_by_key ON sign_in_failure (key, at)",
    """
    CREATE TABLE api_token (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
        scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
        label TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL,
        used REAL,
        expires REAL
    ) STRICT
    """,
    # Nothing is ever changed or deleted here. `detail` is JSON and holds no secret.
    """
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        person TEXT NOT NULL,
        deed TEXT NOT NULL,
        thing TEXT NOT NULL,
        detail TEXT NOT NULL DEFAULT '{}'
    ) STRICT
    """,
)

_TEAMS = (
    "CREATE TABLE team (name TEXT PRIMARY KEY, created REAL NOT NULL) STRICT, WITHOUT ROWID",
    """
    CREATE TABLE membership (
        team TEXT NOT NULL REFERENCES team ON DELETE CASCADE,
        person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
        PRIMARY KEY (team, person)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX membership_by_person ON membership (person)",
    # What a team may do with a run (its id) or a dataset (OWNER/ID of its upload) of somebody.
    """
    CREATE TABLE team_right (
        kind TEXT NOT NULL CHECK (kind IN ('run', 'dataset')),
        thing TEXT NOT NULL,
        team TEXT NOT NULL REFERENCES team ON DELETE CASCADE,
        right_ TEXT NOT NULL CHECK (right_ IN ('view', 'run', 'annotate')),
        PRIMARY KEY (kind, thing, team, right_)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TRIGGER run_rights_end AFTER DELETE ON run BEGIN
        DELETE FROM team_right WHERE kind = 'run' AND thing = OLD.id;
    END
    """,
    # What people uploaded; the files are in the folder of the owner.
    """
    CREATE TABLE upload (
        owner TEXT NOT NULL,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        created REAL NOT NULL,
        PRIMARY KEY (owner, id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TRIGGER upload_rights_end AFTER DELETE ON upload BEGIN
        DELETE FROM team_right WHERE kind = 'dataset' AND thing = OLD.owner || '/' || OLD.id;
    END
    """,
)

_LINKS = (
    # A frozen page: it refers to no run, so that it outlives the one it was made of. `pages` is
    # JSON by language, compressed by zlib; `title` is shown in the list of links.
    """
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
    ) STRICT, WITHOUT ROWID
    """,
    # A note to a person that a run of theirs has ended. It is `sent` when their webhook and
    # their mail have it, or `tries` are used up; the next is `due` then.
    """
    CREATE TABLE notice (
        id INTEGER PRIMARY KEY,
        person TEXT NOT NULL,
        run TEXT NOT NULL,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        created REAL NOT NULL,
        seen REAL,
        sent REAL,
        tries INTEGER NOT NULL DEFAULT 0,
        due REAL NOT NULL DEFAULT 0,
        mailed INTEGER NOT NULL DEFAULT 0,
        posted INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX notice_by_person ON notice (person, seen)",
    "CREATE INDEX notice_by_sent ON notice (sent, due)",
    # In the transaction that ends the run; one that its owner stops needs no note.
    """
    CREATE TRIGGER run_end_noticed AFTER UPDATE OF state ON run
    WHEN NEW.state IN ('done', 'failed') AND OLD.state != NEW.state BEGIN
        INSERT INTO notice (person, run, name, state, created)
        VALUES (NEW.owner, NEW.id, NEW.name, NEW.state, coalesce(NEW.finished, 0));
    END
    """,
)

_ANNOTATION = (
    # Pairs of a run that are voted on by `overlap` of the people that are named.
    """
    CREATE TABLE voting_plan (
        run TEXT PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        overlap INTEGER NOT NULL CHECK (overlap > 0),
        created REAL NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE assigned_voter (
        run TEXT NOT NULL REFERENCES voting_plan ON DELETE CASCADE,
        person TEXT NOT NULL,
        place INTEGER NOT NULL,
        PRIMARY KEY (run, person)
    ) STRICT, WITHOUT ROWID
    """,
    # Whether the pair of a vote was assigned to who cast it.
    "ALTER TABLE vote ADD COLUMN assigned INTEGER NOT NULL DEFAULT 0 CHECK (assigned IN (0, 1))",
    # What was decided on a pair on which people differ, the sides as they were shown.
    """
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
    ) STRICT, WITHOUT ROWID
    """,
    # A link by which people without an account vote on one run, under a name they state.
    """
    CREATE TABLE guest_link (
        digest TEXT PRIMARY KEY,
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
        owner TEXT NOT NULL,
        created REAL NOT NULL,
        expires REAL NOT NULL,
        revoked REAL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE guest (
        digest TEXT PRIMARY KEY,
        link TEXT NOT NULL REFERENCES guest_link ON DELETE CASCADE,
        name TEXT NOT NULL,
        created REAL NOT NULL,
        seen REAL NOT NULL,
        UNIQUE (link, name)
    ) STRICT, WITHOUT ROWID
    """,
)

_QUEUE = (
    "ALTER TABLE run ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
    # When a run of a person was last taken: turns go round between people.
    "CREATE TABLE turn (owner TEXT PRIMARY KEY, taken REAL NOT NULL) STRICT, WITHOUT ROWID",
    # What runs of a person took on a day (UTC, as 2026-11-22); it stays when a run is deleted.
    """
    CREATE TABLE spending (
        owner TEXT NOT NULL,
        day TEXT NOT NULL,
        device_s REAL NOT NULL DEFAULT 0,
        tokens INTEGER NOT NULL DEFAULT 0,
        dollars REAL NOT NULL DEFAULT 0,
        PRIMARY KEY (owner, day)
    ) STRICT, WITHOUT ROWID
    """,
    # Of the answers that were written to a cell.
    "ALTER TABLE cell ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    # The device that a worker was started for, "" for any, and whether it only keeps its model
    # loaded for the next run.
    "ALTER TABLE worker ADD COLUMN own_device TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE worker ADD COLUMN keeps INTEGER NOT NULL DEFAULT 0",
    # What an administrator has decided while the server runs, as JSON by name.
    "CREATE TABLE decision (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
)

_REQUESTS = (
    # What a sender calls a request that started a run, so that sending it again starts no other.
    """
    CREATE TABLE request_key (
        owner TEXT NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
        created REAL NOT NULL,
        PRIMARY KEY (owner, key)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX request_key_by_run ON request_key (run)",
)

SHARED_BOX = (*_PEOPLE, *_TEAMS, *_LINKS, *_ANNOTATION, *_QUEUE, *_REQUESTS)
