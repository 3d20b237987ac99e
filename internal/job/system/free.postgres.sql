-- Frees what those hold who have no lease, of $2 microseconds.
UPDATE jobs SET owner = '' WHERE owner <> '' AND owner <> $1 AND NOT EXISTS (SELECT 1 FROM nodes
    WHERE nodes.owner = jobs.owner AND nodes.renewed_at > clock_timestamp() - CAST($2 AS BIGINT) * interval '1 microsecond')
