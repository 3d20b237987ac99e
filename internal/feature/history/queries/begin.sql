INSERT INTO history_heads (thread_id, checkpoint_id, run_id, seq, prev, turn, turns, calls, read_at)
SELECT t.id, '', '', 0, 0, 0, 0, 0, 0 FROM threads t WHERE t.user_id = $1 AND t.id = $2
ON CONFLICT (thread_id) DO NOTHING
