PRAGMA application_id = 1162629972;
PRAGMA user_version = 8;
BEGIN;
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
CREATE TABLE schema (readable_from INTEGER NOT NULL) STRICT;
CREATE TABLE series (
        run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        kind       INTEGER NOT NULL,
        containers INTEGER NOT NULL,
        slots      BLOB    NOT NULL,
        stage_ends BLOB    NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT;
CREATE TABLE submission (
        application_id   TEXT    PRIMARY KEY,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        submitted_ms     INTEGER NOT NULL,
        signature        TEXT    NOT NULL,
        settings         TEXT    NOT NULL
    ) STRICT;
CREATE INDEX open_samples_by_run ON open_samples (application_id, id);
CREATE INDEX prediction_by_key ON prediction (application_key, made_ms);
CREATE INDEX run_by_end ON run (ended_ms);
CREATE INDEX run_by_key ON run (application_key, ended_ms, id);
INSERT INTO "open_run" VALUES('application_1_000001','sales','Sales 1',7,19000,1,7,X'28B52FFD248D6503000406010B636F6E7461696E65725F310801011EA1FC2BB5AFC9405555555543DEB341649BFADF21B97F40FB0C7D863E59E1400014A4400197269525EFDBF93FFA972A31E846C93F3996C6F58DA52B40F0AB01845702A20C01080101029106A20C000103003F3506534F63057BCE93E254');
INSERT INTO "open_run" VALUES('application_1_000002','sales','Sales 1',7,NULL,0,20,X'28B52FFD2403190000000000A48CAF7D');
INSERT INTO "open_samples" VALUES(1,'application_1_000002',X'28B52FFD246DF50100D40202000B636F6E7461696E65725F3100A01FB817005555555543DEB3419A99B93F001C409A99013F3202904EF03F060080614090ACB8801E60212E60023B2EA4D7');
INSERT INTO "open_samples" VALUES(2,'application_1_000002',X'28B52FFD2447D50100D40202000B636F6E7461696E65725F3100904EB81700F03F5555555543DEB3419A99B93F001C409A99013F0102C03E040059B1013DC04A04C004B91F73C1');
INSERT INTO "schema" VALUES(8);
COMMIT;
