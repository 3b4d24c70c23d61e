CREATE SCHEMA IF NOT EXISTS interlock;

CREATE TABLE interlock.heads (
    project text PRIMARY KEY,
    seq bigint NOT NULL,
    hash text NOT NULL,
    time double precision NOT NULL
);

CREATE TABLE interlock.owners (
    project text PRIMARY KEY,
    lineage text NOT NULL
);

CREATE TABLE interlock.facts (
    project text NOT NULL,
    seq bigint NOT NULL,
    time double precision NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL, -- not json: the hash covers the text as it is
    hash text NOT NULL,
    PRIMARY KEY (project, seq)
);

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
);

CREATE TABLE interlock.snapshots (
    project text PRIMARY KEY,
    seq bigint NOT NULL,
    data bytea NOT NULL
);

CREATE VIEW interlock.clock (now) AS SELECT extract(epoch FROM clock_timestamp())::double precision;

CREATE TABLE interlock.version AS SELECT 1 AS version;

