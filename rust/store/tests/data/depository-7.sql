-- A depository that version 7 wrote: two runs of `sales`, as `common::run` makes them.
PRAGMA application_id = 1162629972;
PRAGMA user_version = 7;
BEGIN TRANSACTION;
CREATE TABLE ledger (
        hour_ms               INTEGER NOT NULL,
        application_id        TEXT    NOT NULL,
        queue                 TEXT    NOT NULL,
        application_key       TEXT    NOT NULL,
        application_name      TEXT    NOT NULL,
        user                  TEXT    NOT NULL,
        containers            INTEGER NOT NULL,
        booked_vcore_s        REAL    NOT NULL,
        booked_byte_s         REAL    NOT NULL,
        measured_vcore_s      REAL    NOT NULL,
        measured_byte_s       REAL    NOT NULL,
        used_core_s           REAL    NOT NULL,
        used_byte_s           REAL    NOT NULL,
        core_cost             REAL    NOT NULL,
        memory_cost           REAL    NOT NULL,
        largest_request_bytes INTEGER NOT NULL,
        largest_use_bytes     INTEGER NOT NULL,
        PRIMARY KEY (hour_ms, application_id, queue)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE model (
        application_key TEXT    NOT NULL,
        kind            INTEGER NOT NULL,
        name            TEXT    NOT NULL,
        version         INTEGER NOT NULL,
        trained_ms      INTEGER NOT NULL,
        held_out_error  REAL    NOT NULL,
        model           BLOB    NOT NULL,
        PRIMARY KEY (application_key, kind, name)
    ) STRICT;
CREATE TABLE nodes_hour (
        hour_ms          INTEGER PRIMARY KEY,
        node_s           REAL NOT NULL,
        physical_vcore_s REAL NOT NULL,
        physical_byte_s  REAL NOT NULL,
        booked_byte_s    REAL NOT NULL,
        above_vcore_s    REAL NOT NULL,
        above_byte_s     REAL NOT NULL
    ) STRICT;
CREATE TABLE open_run (
        application_id   TEXT    PRIMARY KEY,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        started_ms       INTEGER NOT NULL,
        ended_ms         INTEGER,
        outcome          INTEGER NOT NULL,
        sampled_ms       INTEGER NOT NULL,
        recorder         BLOB    NOT NULL
    ) STRICT;
CREATE TABLE open_samples (
        id             INTEGER PRIMARY KEY,
        application_id TEXT    NOT NULL REFERENCES open_run ON DELETE CASCADE,
        samples        BLOB    NOT NULL
    ) STRICT;
CREATE TABLE prediction (
        application_id     TEXT    NOT NULL,
        kind               INTEGER NOT NULL,
        application_key    TEXT    NOT NULL,
        made_ms            INTEGER NOT NULL,
        made               TEXT    NOT NULL,
        bound              BLOB,
        bound_slot_ms      INTEGER,
        outcome            TEXT,
        PRIMARY KEY (application_id, kind)
    ) STRICT;
CREATE TABLE run (
        id               INTEGER PRIMARY KEY,
        application_id   TEXT    NOT NULL UNIQUE,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        started_ms       INTEGER NOT NULL,
        ended_ms         INTEGER NOT NULL,
        outcome          INTEGER NOT NULL
    ) STRICT;
INSERT INTO "run" VALUES(1,'application_1_000000','sales','sales 0',0,500,0);
INSERT INTO "run" VALUES(2,'application_1_000001','sales','sales 1',1000,1500,0);
CREATE TABLE series (
        run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        kind       INTEGER NOT NULL,
        containers INTEGER NOT NULL,
        slots      BLOB    NOT NULL,
        stage_ends BLOB    NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT;
INSERT INTO "series" VALUES(1,0,0,1,X'01032A28B52FFD2430ED0000A83F3F3F494949434343007474747A7A7A00242424000310009388B990112E5E67',X'0100');
INSERT INTO "series" VALUES(1,1,1,4,X'01142928B52FFD644000DD0000503F3F494300747A0024000910003495E4942C91E4942C91E47A586E1F217E',X'0100');
INSERT INTO "series" VALUES(2,0,0,1,X'01033228B52FFD24302D0100F83F3F3F4949494343433F3F3F0000007474747A7A7A808080000000242424000100CFC00981984C4B',X'0100');
INSERT INTO "series" VALUES(2,1,1,4,X'01142E28B52FFD644000050100603F3F49433F00747A800024000B10003495E412964872094B24B98425C2C302AB5C0271',X'0100');
CREATE TABLE submission (
        application_id   TEXT    PRIMARY KEY,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        submitted_ms     INTEGER NOT NULL,
        signature        TEXT    NOT NULL,
        settings         TEXT    NOT NULL
    ) STRICT;
CREATE INDEX run_by_key ON run (application_key, ended_ms, id);
CREATE INDEX run_by_end ON run (ended_ms);
CREATE INDEX prediction_by_key ON prediction (application_key, made_ms);
CREATE INDEX open_samples_by_run ON open_samples (application_id, id);
COMMIT;
