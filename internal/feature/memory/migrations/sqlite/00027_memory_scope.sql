-- The weakest facts of those for the same agent are found, and counted, without reading all.

-- +goose Up
-- +goose StatementBegin
CREATE INDEX memory_facts_by_scope ON memory_facts (user_id, status, agent, confidence, seq, folder_id);
-- +goose StatementEnd
