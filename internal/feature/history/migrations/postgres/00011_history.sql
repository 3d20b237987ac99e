-- What each checkpoint of a thread does to its messages, read out of the log for those who look at the messages by pages.
-- Both tables follow from the log and are filled when a thread is looked at. seq counts a thread's rows, with room where a
-- run ends. A row of op
--   run     begins the rows of a run, or of a change from outside
--   branch  says that the rows from here on stand on the one numbered base, and not on the one before
--   append, replace, remove, reset    are those of the state's channel; an append is of a message that was not there
-- kind is empty for a message that nobody is shown. prev is the shown message before it on its branch, turn the human message
-- that it answers, base which turn of its branch this is, call counts a run's answers, millis is how long the step took, tokens what the
-- call of the model took.
-- history_heads has how far each thread was read.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE history (
    thread_id     TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    seq           BIGINT NOT NULL,
    op            TEXT   COLLATE "C" NOT NULL,
    message_id    TEXT   COLLATE "C" NOT NULL,
    kind          TEXT   COLLATE "C" NOT NULL,
    run_id        TEXT   COLLATE "C" NOT NULL,
    checkpoint_id TEXT   COLLATE "C" NOT NULL,
    n             BIGINT NOT NULL,
    base          BIGINT NOT NULL,
    prev          BIGINT NOT NULL,
    turn          BIGINT NOT NULL,
    call          BIGINT NOT NULL,
    millis        BIGINT NOT NULL,
    tokens        BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    model         TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE INDEX history_by_message ON history (thread_id, message_id, seq);
CREATE INDEX history_marks ON history (thread_id, op, seq) WHERE op IN ('branch', 'reset');
CREATE INDEX history_runs ON history (thread_id, op, run_id, seq) WHERE op = 'run';

CREATE TABLE history_heads (
    thread_id     TEXT   COLLATE "C" NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    checkpoint_id TEXT   COLLATE "C" NOT NULL,
    run_id        TEXT   COLLATE "C" NOT NULL,
    seq           BIGINT NOT NULL,
    prev          BIGINT NOT NULL,
    turn          BIGINT NOT NULL,
    turns         BIGINT NOT NULL,
    calls         BIGINT NOT NULL,
    read_at       BIGINT NOT NULL
);
-- +goose StatementEnd
