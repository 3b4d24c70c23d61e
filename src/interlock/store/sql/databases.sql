-- name: create_role — the owner of one database, who can do nothing else on the server
-- The role comes first, with its mark, in one transaction: a database that a crash leaves has an owner that says
-- whose it is.
CREATE ROLE {name} LOGIN PASSWORD {password} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 50

-- name: mark_role — the project and the process that it was made for
COMMENT ON ROLE {name} IS {mark}

-- name: join_role — lets a role that is no superuser hand objects over
GRANT {name} TO CURRENT_USER

-- name: create_database — a copy of the template
CREATE DATABASE {name} TEMPLATE {template} OWNER {name}

-- name: close_database — only its owner may connect
REVOKE ALL ON DATABASE {name} FROM PUBLIC

-- name: hand_over — run in the copy: everything in it belonged to the owners of the template's objects
-- Left out: members of extensions, and sequences of columns, which follow their tables.
DO $hand_over$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER %s %s OWNER TO %I', found.type, found.identity, {owner})
        FROM (
            SELECT 1 AS turn, classid, objid FROM (
                SELECT 'pg_namespace'::regclass AS classid, oid AS objid, oid AS schema FROM pg_namespace
            ) AS schemas WHERE schema NOT IN (
                SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\_%' OR nspname = 'information_schema'
            )
            UNION ALL
            SELECT 2, classid, objid FROM (
                SELECT 'pg_class'::regclass AS classid, oid AS objid, relnamespace AS schema FROM pg_class
                WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
                UNION ALL
                SELECT 'pg_proc'::regclass, oid, pronamespace FROM pg_proc
                UNION ALL
                SELECT 'pg_type'::regclass, type.oid, typnamespace FROM pg_type AS type
                LEFT JOIN pg_class AS class ON class.oid = typrelid
                WHERE typtype IN ('d', 'e', 'r') OR (typtype = 'c' AND class.relkind = 'c')
            ) AS objects WHERE schema NOT IN (
                SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\_%' OR nspname = 'information_schema'
            )
        ) AS object, LATERAL pg_identify_object(object.classid, object.objid, 0) AS found
        WHERE NOT EXISTS (
            SELECT FROM pg_depend AS link
            WHERE link.classid = object.classid AND link.objid = object.objid
                AND (link.deptype = 'e' OR (link.deptype IN ('a', 'i') AND link.refclassid = 'pg_class'::regclass))
        )
        ORDER BY object.turn
    LOOP
        EXECUTE statement;
    END LOOP;
END
$hand_over$

-- name: left — roles with our mark, and whether the database of that name is theirs
SELECT role.rolname, shobj_description(role.oid, 'pg_authid'), EXISTS (
    SELECT FROM pg_database WHERE datname = role.rolname AND datdba = role.oid
)
FROM pg_roles AS role
WHERE starts_with(shobj_description(role.oid, 'pg_authid'), {start})

-- name: drop_database — with all that is connected
DROP DATABASE {name} WITH (FORCE)

-- name: drop_role — its owner
DROP ROLE {name}
