-- The number that tells other processes of a change.
INSERT INTO model_state (id, version, standard) VALUES ('models', 1, '')
ON CONFLICT (id) DO UPDATE SET version = model_state.version + 1
