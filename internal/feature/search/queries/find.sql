-- The newest rows that match $2, of the threads that are shown: with archived ones if $3 is 1, of those in the list $4 alone if that
-- is no empty text, of messages and names from $5 to before $6. FTS5 goes through what it finds in the order of seq, from the end.
SELECT d.thread_id, t.title, d.form, d.ref, d.role, d.at, d.text
FROM search_index i CROSS JOIN search_docs d ON d.seq = i.rowid CROSS JOIN threads t ON t.id = d.thread_id
WHERE d.user_id = $1 AND i.search_index MATCH $2 AND t.user_id = $1
AND ($4 = '' OR d.thread_id IN (SELECT value FROM json_each($4))) AND d.at >= $5 AND d.at < $6 AND t.marks <= $3
ORDER BY i.rowid DESC LIMIT $7
