-- The ledger of a campaign, version 1. All sizes in bytes, all times in seconds since the epoch,
-- all series in seconds since the start of the measured window. Nothing is ever changed or removed:
-- the triggers below abort UPDATE, DELETE and the deletion hidden in INSERT OR REPLACE.

CREATE TABLE campaign (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    uuid           TEXT NOT NULL,
    name           TEXT NOT NULL,
    teiten_version TEXT NOT NULL,
    created_at     REAL NOT NULL,
    command        TEXT NOT NULL,
    plan           TEXT NOT NULL,  -- JSON of model.plan.Plan
    facts          TEXT NOT NULL,  -- JSON of model.facts.HostFacts
    cautions       TEXT NOT NULL,  -- JSON array of model.facts.Caution
    planned        INTEGER NOT NULL,  -- trials in the plan, so that a list need not read it
    repeats        INTEGER NOT NULL,
    study          TEXT NOT NULL,
    profile        TEXT NOT NULL
);

CREATE TABLE trial (
    number      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    outcome     TEXT NOT NULL CHECK (outcome IN ('counted', 'failed', 'disturbed')),
    problems    TEXT NOT NULL,  -- JSON array of model.trial.Problem
    started_at  REAL NOT NULL,
    finished_at REAL NOT NULL,
    facts       TEXT NOT NULL,  -- JSON object
    evidence    TEXT NOT NULL,  -- JSON array of kind and path relative to the campaign's folder
    histogram   TEXT NOT NULL,  -- HdrHistogram V2, base64, in microseconds
    PRIMARY KEY (number, attempt)
);

CREATE TABLE metric (
    number  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    name    TEXT NOT NULL,
    value   REAL,  -- NULL: not a number
    PRIMARY KEY (number, attempt, name),
    FOREIGN KEY (number, attempt) REFERENCES trial (number, attempt)
) WITHOUT ROWID;

CREATE TABLE series (
    number  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    source  TEXT NOT NULL,
    samples INTEGER NOT NULL,  -- rows of the blob
    columns INTEGER NOT NULL,  -- columns of the blob, without seconds
    data    BLOB NOT NULL,     -- zstd of an Arrow IPC stream: seconds and the columns, float64
    PRIMARY KEY (number, attempt, source),
    FOREIGN KEY (number, attempt) REFERENCES trial (number, attempt)
);

CREATE TABLE server_facts (
    id    INTEGER PRIMARY KEY,  -- of several rows of one level the last one holds
    level TEXT NOT NULL,
    facts TEXT NOT NULL         -- JSON object
);

CREATE TABLE event (
    id      INTEGER PRIMARY KEY,
    at      REAL NOT NULL,
    kind    TEXT NOT NULL,
    trial   INTEGER,
    attempt INTEGER,
    detail  TEXT NOT NULL       -- JSON object
);

CREATE TRIGGER campaign_is_kept BEFORE DELETE ON campaign
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER campaign_is_fixed BEFORE UPDATE ON campaign
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER campaign_is_not_replaced BEFORE INSERT ON campaign
WHEN EXISTS (SELECT 1 FROM campaign)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER trial_is_kept BEFORE DELETE ON trial
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER trial_is_fixed BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER trial_is_not_replaced BEFORE INSERT ON trial
WHEN EXISTS (SELECT 1 FROM trial WHERE number = NEW.number AND attempt = NEW.attempt)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER metric_is_kept BEFORE DELETE ON metric
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER metric_is_fixed BEFORE UPDATE ON metric
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER metric_is_not_replaced BEFORE INSERT ON metric
WHEN EXISTS (
    SELECT 1 FROM metric
    WHERE number = NEW.number AND attempt = NEW.attempt AND name = NEW.name
)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER series_is_kept BEFORE DELETE ON series
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER series_is_fixed BEFORE UPDATE ON series
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER series_is_not_replaced BEFORE INSERT ON series
WHEN EXISTS (
    SELECT 1 FROM series
    WHERE number = NEW.number AND attempt = NEW.attempt AND source = NEW.source
)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER server_facts_are_kept BEFORE DELETE ON server_facts
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER server_facts_are_fixed BEFORE UPDATE ON server_facts
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER server_facts_are_not_replaced BEFORE INSERT ON server_facts
WHEN EXISTS (SELECT 1 FROM server_facts WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TRIGGER event_is_kept BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER event_is_fixed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER event_is_not_replaced BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
