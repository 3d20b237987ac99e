-- ttl is the time to live of an item in microseconds, 0 for ever; expires_at is when it is over, 0 if it never is.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE items ADD COLUMN ttl BIGINT NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX items_expiring ON items (expires_at) WHERE expires_at > 0;
-- +goose StatementEnd
