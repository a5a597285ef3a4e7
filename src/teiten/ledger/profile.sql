-- Version 2: where the server's CPU time went, of trials with an extra window of profiling.

CREATE TABLE profile (
    number  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    data    BLOB NOT NULL,  -- zstd of the JSON of model.profile.Profile
    PRIMARY KEY (number, attempt),
    FOREIGN KEY (number, attempt) REFERENCES trial (number, attempt)
);

CREATE TRIGGER profile_is_kept BEFORE DELETE ON profile
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER profile_is_fixed BEFORE UPDATE ON profile
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER profile_is_not_replaced BEFORE INSERT ON profile
WHEN EXISTS (SELECT 1 FROM profile WHERE number = NEW.number AND attempt = NEW.attempt)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
