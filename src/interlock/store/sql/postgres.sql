-- name: settings — a session with our guarantees, at any defaults of the server
-- An acknowledged commit is on the disk; a stopped process cannot hold the log; floats come back as they went.
SELECT
    set_config('synchronous_commit', 'on', false),
    set_config('idle_in_transaction_session_timeout', '10s', false),
    set_config('lock_timeout', '15s', false),
    set_config('extra_float_digits', '1', false)

-- name: has_schema — true if Interlock has made its tables here
-- Read as a table: to_regclass() answers from a cache that may be older than the lock we have just waited for.
SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'interlock' AND tablename = 'version')

-- name: schema_version — the version of the tables
SELECT version FROM interlock.version

-- name: lock_schema — one process creates, the others wait for it
SELECT pg_advisory_xact_lock(hashtext('interlock schema'))

-- Schema 1 is what `create_` makes. Each later one is what its `to_N_` statements make of the one before: a
-- new database goes the same way as an old one.

-- name: create_schema — a name of our own: the database may be shared with anything
CREATE SCHEMA IF NOT EXISTS interlock

-- name: create_heads — the last fact of every project; a writer locks its row
CREATE TABLE interlock.heads (
    project text PRIMARY KEY,
    seq bigint NOT NULL,
    hash text NOT NULL,
    time double precision NOT NULL
)

-- name: create_owners — the repository that owns a project's log
CREATE TABLE interlock.owners (
    project text PRIMARY KEY,
    lineage text NOT NULL
)

-- name: create_facts — the logs: one row per fact, never changed
CREATE TABLE interlock.facts (
    project text NOT NULL,
    seq bigint NOT NULL,
    time double precision NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL, -- not json: the hash covers the text as it is
    hash text NOT NULL,
    PRIMARY KEY (project, seq)
)

-- name: create_claims — the holder of each resource; a row stays for good, so that its epoch only ever rises
CREATE TABLE interlock.claims (
    project text NOT NULL,
    resource text NOT NULL,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    generation bigint NOT NULL,
    renewed double precision NOT NULL,
    expires double precision NOT NULL,
    note text NOT NULL,
    released boolean NOT NULL,
    PRIMARY KEY (project, resource)
)

-- name: create_snapshots — the newest snapshot of every project
CREATE TABLE interlock.snapshots (
    project text PRIMARY KEY,
    seq bigint NOT NULL,
    data bytea NOT NULL
)

-- name: create_clock — seconds since 1970, going on within a transaction
CREATE VIEW interlock.clock (now) AS SELECT extract(epoch FROM clock_timestamp())::double precision

-- name: create_version — last, so that it is only there when everything else is
CREATE TABLE interlock.version AS SELECT 1 AS version

-- name: to_2_needs — the oldest Interlock that can use the schema; every later schema keeps this column
ALTER TABLE interlock.version ADD COLUMN needs text NOT NULL DEFAULT '0.2.0'

-- name: to_3_by_task — finds the facts that name a task without a look at all others; a body need not be JSON
CREATE INDEX facts_by_task ON interlock.facts (
    project,
    (substring(body from '^\{(?:"_v":[0-9]+,"_needs":"[^"]*",)?"task":(?:\{"id":)?"([a-z0-9._-]{1,200})"'))
)

-- name: to_3_by_commit — finds the facts about a commit: made, tested, landed
CREATE INDEX facts_by_commit ON interlock.facts (
    project,
    (substring(body from '"commit":"([0-9a-f]{1,64})"')) COLLATE "C"
)

-- name: set_schema_version — in the transaction that makes the tables
UPDATE interlock.version SET version = {version}

-- name: needs — the oldest Interlock that can use the schema; none: the table does not say
SELECT to_jsonb(here) ->> 'needs' FROM interlock.version AS here

-- name: begin — each statement sees what was committed before it, so a check after the lock is up to date
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: listen — get notified of appends to this project
LISTEN {channel}

-- name: now — the database's clock, and the time of the newest fact
SELECT now, coalesce((SELECT time FROM interlock.heads WHERE project = %(project)s), 0)
FROM interlock.clock

-- name: head — the number of the last fact
SELECT coalesce((SELECT seq FROM interlock.heads WHERE project = %(project)s), 0)

-- name: owner — the lineage of the repository that owns a log; no row: it has none yet
SELECT lineage FROM interlock.owners WHERE project = %(project)s

-- name: own — become the owner if there is none; the owner
INSERT INTO interlock.owners AS owners (project, lineage) VALUES (%(project)s, %(lineage)s)
ON CONFLICT (project) DO UPDATE SET lineage = owners.lineage
RETURNING lineage

-- name: lock_head — one writer per project at a time, so that the chain has no gap and no fork
INSERT INTO interlock.heads (project, seq, hash, time) VALUES (%(project)s, 0, %(genesis)s, 0)
ON CONFLICT (project) DO UPDATE SET seq = heads.seq
RETURNING seq, hash, time, (SELECT now FROM interlock.clock)

-- name: append — facts, column by column
INSERT INTO interlock.facts (project, seq, time, actor, kind, body, hash)
SELECT %(project)s, row.*
FROM unnest(
    %(seq)s::bigint[], %(time)s::double precision[], %(actor)s::text[], %(kind)s::text[], %(body)s::text[],
    %(hash)s::text[]
) AS row

-- name: move_head — the new last fact, told to all who listen once it is committed
UPDATE interlock.heads SET seq = %(seq)s, hash = %(hash)s, time = %(time)s
WHERE project = %(project)s
RETURNING pg_notify(%(channel)s, '')

-- name: read — the facts after a position
SELECT seq, time, actor, kind, body, hash FROM interlock.facts
WHERE project = %(project)s AND seq > %(after)s
ORDER BY seq LIMIT %(limit)s

-- name: about_task — the facts that name a task; the expression is that of the index
SELECT seq, time, actor, kind, body, hash FROM interlock.facts
WHERE
    project = %(project)s
    AND substring(body from '^\{(?:"_v":[0-9]+,"_needs":"[^"]*",)?"task":(?:\{"id":)?"([a-z0-9._-]{1,200})"')
    = %(task)s
ORDER BY seq

-- name: about_commit — the facts about the commits between two names; the expression is that of the index
SELECT seq, time, actor, kind, body, hash FROM interlock.facts
WHERE
    project = %(project)s
    AND substring(body from '"commit":"([0-9a-f]{1,64})"') COLLATE "C"
    BETWEEN %(first)s AND %(last)s
ORDER BY seq

-- name: holds — one row if the claim still stands
SELECT 1 FROM interlock.claims
WHERE project = %(project)s AND resource = %(resource)s
    AND epoch = %(epoch)s AND holder = %(holder)s AND NOT released

-- name: claim — raise the epoch of a resource that is free; no row: it is held
INSERT INTO interlock.claims AS claims
    (project, resource, epoch, holder, generation, renewed, expires, note, released)
SELECT %(project)s, %(resource)s, 1, %(holder)s, %(generation)s, now, now + %(lease_seconds)s, '', false
FROM interlock.clock
ON CONFLICT (project, resource) DO UPDATE SET
    epoch = least(claims.epoch, 9223372036854775806) + 1,
    holder = excluded.holder,
    generation = excluded.generation,
    renewed = excluded.renewed,
    expires = excluded.expires,
    note = '',
    released = false
WHERE claims.released
    OR claims.expires <= excluded.renewed
    OR claims.generation < excluded.generation
    OR claims.epoch = %(takeover)s::bigint
RETURNING epoch

-- name: renew — prolong a claim that still stands; no row: it does not
UPDATE interlock.claims SET renewed = now, expires = now + %(lease_seconds)s, note = %(note)s
FROM interlock.clock
WHERE project = %(project)s AND resource = %(resource)s
    AND epoch = %(epoch)s AND holder = %(holder)s AND NOT released
RETURNING epoch

-- name: release — give back a claim that still stands; no row: it does not
UPDATE interlock.claims SET released = true
WHERE project = %(project)s AND resource = %(resource)s
    AND epoch = %(epoch)s AND holder = %(holder)s AND NOT released
RETURNING epoch

-- name: revoke — raise the epoch, take it from its holder, and leave it free
INSERT INTO interlock.claims AS claims
    (project, resource, epoch, holder, generation, renewed, expires, note, released)
SELECT %(project)s, %(resource)s, 1, %(holder)s, 0, now, now, '', true
FROM interlock.clock
ON CONFLICT (project, resource) DO UPDATE SET
    epoch = least(claims.epoch, 9223372036854775806) + 1,
    holder = excluded.holder,
    generation = 0,
    renewed = excluded.renewed,
    expires = excluded.expires,
    note = '',
    released = true
RETURNING epoch

-- name: raise_epoch — let epochs go on above those that were handed out before
INSERT INTO interlock.claims AS claims
    (project, resource, epoch, holder, generation, renewed, expires, note, released)
SELECT %(project)s, row.resource, row.epoch, '', 0, now, now, '', true
FROM interlock.clock, unnest(%(resources)s::text[], %(epochs)s::bigint[]) AS row (resource, epoch)
ON CONFLICT (project, resource) DO UPDATE SET epoch = excluded.epoch, released = true
WHERE claims.epoch < excluded.epoch
RETURNING claims.epoch

-- name: held — every claim that was not given back
SELECT resource, epoch, holder, generation, expires - now, note, now - renewed
FROM interlock.claims, interlock.clock
WHERE project = %(project)s AND NOT released
ORDER BY resource COLLATE "C"

-- name: save_snapshot — keep it if it is the newest
INSERT INTO interlock.snapshots AS snapshots (project, seq, data) VALUES (%(project)s, %(seq)s, %(data)s)
ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, data = excluded.data
WHERE snapshots.seq <= excluded.seq
RETURNING seq

-- name: load_snapshot — with the hash that the log has there; none if the log does not reach that far
SELECT snapshots.seq, facts.hash, snapshots.data
FROM interlock.snapshots
LEFT JOIN interlock.facts ON facts.project = snapshots.project AND facts.seq = snapshots.seq
WHERE snapshots.project = %(project)s AND (snapshots.seq = 0 OR facts.seq IS NOT NULL)

-- name: drop_snapshot — a snapshot of another log is worth nothing
DELETE FROM interlock.snapshots WHERE project = %(project)s RETURNING seq
