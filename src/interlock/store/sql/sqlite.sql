-- Schema 1 is what `create_` makes. Each later one is what its `to_N_` statements make of the one before: a
-- new file goes the same way as an old one.

-- name: create_facts — the log: one row per fact, never changed
CREATE TABLE facts (
    seq INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT

-- name: create_claims — the holder of each resource; a row stays for good, so that its epoch only ever rises
CREATE TABLE claims (
    resource TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    holder TEXT NOT NULL,
    generation INTEGER NOT NULL,
    renewed REAL NOT NULL,
    expires REAL NOT NULL,
    note TEXT NOT NULL,
    released INTEGER NOT NULL
) STRICT, WITHOUT ROWID

-- name: create_snapshot — the newest snapshot, one row
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT

-- name: create_clock — seconds since 1970 to the millisecond; unixepoch('subsec') would need SQLite 3.42
CREATE VIEW clock (now) AS SELECT round((julianday('now') - 2440587.5) * 86400.0, 3)

-- name: to_2_project — the repository that owns the log, and the oldest Interlock that can use the schema
CREATE TABLE project (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    lineage TEXT NOT NULL, -- empty: no repository has said so yet
    needs TEXT NOT NULL
) STRICT

-- name: to_2_row — every later schema keeps this row, so that an older Interlock can say what it needs
INSERT INTO project (one, lineage, needs) VALUES (1, '', '0.2.0')

-- name: to_3_by_task — finds the facts that name a task without a look at all others
CREATE INDEX facts_by_task ON facts (
    CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.task.id'), json_extract(body, '$.task')) END
)

-- name: to_3_by_commit — finds the facts about a commit: made, tested, landed
CREATE INDEX facts_by_commit ON facts (CASE WHEN json_valid(body) THEN json_extract(body, '$.commit') END)

-- name: schema_version — 0: the file is new
PRAGMA user_version

-- name: set_schema_version — part of the transaction that makes the tables
PRAGMA user_version = {version}

-- name: needs — the oldest Interlock that can use the schema
SELECT needs FROM project

-- name: owner — the lineage of the repository that owns the log; empty: none yet
SELECT lineage FROM project

-- name: own — become the owner if there is none, also in a damaged log that has lost the row
INSERT INTO project (one, lineage, needs) VALUES (1, :lineage, '')
ON CONFLICT (one) DO UPDATE SET lineage = excluded.lineage WHERE project.lineage = ''

-- name: count_tables — a file with tables and no version belongs to another program
SELECT count(*) FROM sqlite_schema

-- name: use_wal — readers never wait for a writer
PRAGMA journal_mode = WAL

-- name: use_full_sync — a commit is on the disk before it is acknowledged; NORMAL loses commits in a power cut
PRAGMA synchronous = FULL

-- name: use_full_fsync — the same on macOS, whose plain fsync stops at the drive's cache
PRAGMA fullfsync = 1

-- name: begin — take the write lock at once: a lock that is upgraded later can fail half-way
BEGIN IMMEDIATE

-- name: data_version — changes when another connection has committed
PRAGMA data_version

-- name: now — the database's clock, and the time of the newest fact
SELECT now, coalesce((SELECT time FROM facts ORDER BY seq DESC LIMIT 1), 0.0) FROM clock

-- name: head — the number of the last fact
SELECT coalesce(max(seq), 0) FROM facts

-- name: last — what the next fact is chained to
SELECT seq, hash, time FROM facts ORDER BY seq DESC LIMIT 1

-- name: append — one fact
INSERT INTO facts (seq, time, actor, kind, body, hash) VALUES (?, ?, ?, ?, ?, ?)

-- name: read — the facts after a position
SELECT seq, time, actor, kind, body, hash FROM facts WHERE seq > ? ORDER BY seq LIMIT ?

-- name: about_task — the facts that name a task; the expression is that of the index
SELECT seq, time, actor, kind, body, hash FROM facts
WHERE
    CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.task.id'), json_extract(body, '$.task')) END
    = ?
ORDER BY seq

-- name: about_commit — the facts about the commits between two names; the expression is that of the index
SELECT seq, time, actor, kind, body, hash FROM facts
WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.commit') END BETWEEN ? AND ?
ORDER BY seq

-- name: holds — one row if the claim still stands
SELECT 1 FROM claims WHERE resource = :resource AND epoch = :epoch AND holder = :holder AND NOT released

-- name: claim — raise the epoch of a resource that is free; no row: it is held
INSERT INTO claims (resource, epoch, holder, generation, renewed, expires, note, released)
SELECT :resource, 1, :holder, :generation, now, now + :lease_seconds, '', 0 FROM clock WHERE true
ON CONFLICT (resource) DO UPDATE SET
    epoch = min(claims.epoch, 9223372036854775806) + 1,
    holder = excluded.holder,
    generation = excluded.generation,
    renewed = excluded.renewed,
    expires = excluded.expires,
    note = '',
    released = 0
WHERE claims.released
    OR claims.expires <= excluded.renewed
    OR claims.generation < excluded.generation
    OR claims.epoch = :takeover
RETURNING epoch

-- name: renew — prolong a claim that still stands; no row: it does not
UPDATE claims SET renewed = clock.now, expires = clock.now + :lease_seconds, note = :note
FROM clock
WHERE resource = :resource AND epoch = :epoch AND holder = :holder AND NOT released
RETURNING epoch

-- name: release — give back a claim that still stands; no row: it does not
UPDATE claims SET released = 1
WHERE resource = :resource AND epoch = :epoch AND holder = :holder AND NOT released
RETURNING epoch

-- name: revoke — raise the epoch, take it from its holder, and leave it free
INSERT INTO claims (resource, epoch, holder, generation, renewed, expires, note, released)
SELECT :resource, 1, :holder, 0, now, now, '', 1 FROM clock WHERE true
ON CONFLICT (resource) DO UPDATE SET
    epoch = min(claims.epoch, 9223372036854775806) + 1,
    holder = excluded.holder,
    generation = 0,
    renewed = excluded.renewed,
    expires = excluded.expires,
    note = '',
    released = 1

-- name: raise_epoch — let epochs go on above one that was handed out before
INSERT INTO claims (resource, epoch, holder, generation, renewed, expires, note, released)
SELECT :resource, :epoch, '', 0, now, now, '', 1 FROM clock WHERE true
ON CONFLICT (resource) DO UPDATE SET epoch = excluded.epoch, released = 1 WHERE claims.epoch < excluded.epoch
RETURNING epoch

-- name: held — every claim that was not given back
SELECT resource, epoch, holder, generation, expires - clock.now, note, clock.now - renewed
FROM claims, clock
WHERE NOT released
ORDER BY resource

-- name: save_snapshot — keep it if it is the newest
INSERT INTO snapshot (one, seq, data) VALUES (1, :seq, :data)
ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, data = excluded.data WHERE snapshot.seq <= excluded.seq

-- name: load_snapshot — with the hash that the log has there; none if the log does not reach that far
SELECT snapshot.seq, facts.hash, snapshot.data
FROM snapshot LEFT JOIN facts ON facts.seq = snapshot.seq
WHERE snapshot.seq = 0 OR facts.seq IS NOT NULL

-- name: drop_snapshot — a snapshot of another log is worth nothing
DELETE FROM snapshot
