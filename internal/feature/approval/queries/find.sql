-- The grants that may cover a call of the tool $2 on the thread $3 whose subject is $4. A hidden thread has those of the thread at
-- the top.
SELECT id, tool, pattern, exact, thread_id, via, given_at, used_at, uses, revoked_at FROM grants
WHERE user_id = $1 AND tool = $2 AND revoked_at = 0 AND (exact = 0 OR pattern = $4)
AND (thread_id IS NULL OR thread_id = (SELECT CASE t.root_id WHEN '' THEN t.id ELSE t.root_id END FROM threads t
    WHERE t.user_id = $1 AND t.id = $3))
ORDER BY exact DESC, id
