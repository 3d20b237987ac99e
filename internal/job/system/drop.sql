-- Drops jobs. What one that runs has still to write is not written.
DELETE FROM jobs WHERE job_kind = $1 AND key = $2 AND (user_id = $3 OR CAST($3 AS TEXT) = '')
