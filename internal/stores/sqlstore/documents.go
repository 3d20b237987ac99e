package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// documents checks what is kept as JSON beside the log, and the columns that were made of it.
func (c *checkup) documents(ctx context.Context) error {
	for _, part := range []struct {
		query string
		check func(row *sql.Rows) (thread, name string, fault, err error)
	}{
		{"SELECT id, metadata, pinned, signature FROM threads ORDER BY id", checkMetadata},
		{"SELECT user_id, namespace, key, value FROM items ORDER BY user_id, namespace, key", checkStoredItem},
		{"SELECT id, config, context, metadata FROM assistants ORDER BY id, version", checkStoredAssistant},
	} {
		err := c.read(ctx, part.query, nil, func(r *sql.Rows) (bool, error) {
			thread, name, fault, err := part.check(r)
			if err == nil && fault != nil {
				c.reportf(thread, name, "%v", fault)
			}
			return true, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func checkMetadata(row *sql.Rows) (thread, _ string, fault, err error) {
	var metadata []byte
	var isPinned int
	var bits int64
	if err = row.Scan(&thread, &metadata, &isPinned, &bits); err != nil {
		return thread, "", nil, err
	}
	fault = checkObject("metadata", metadata)
	if fault == nil && (isPinned != pinned(metadata) || ^bits&signature(metadata) != 0) {
		fault = errors.New("its metadata is not what searches take it for")
	}
	return thread, "", fault, nil
}

func checkStoredItem(row *sql.Rows) (_, name string, fault, err error) {
	var user, namespace, key string
	var value []byte
	if err = row.Scan(&user, &namespace, &key, &value); err != nil {
		return "", "", nil, err
	}
	labels := splitLabels(namespace)
	fault = errors.Join(checkText("user id", user), checkItem(labels, key), checkObject("value", value))
	if fault == nil && joinLabels(labels) != namespace {
		fault = errors.New("its namespace is not one as it is stored")
	}
	return "", strings.Join(append(labels, key), "."), fault, nil
}

func checkStoredAssistant(row *sql.Rows) (_, id string, fault, err error) {
	var config, context, metadata []byte
	err = row.Scan(&id, &config, &context, &metadata)
	return "", id, errors.Join(checkObject("config", config), checkObject("context", context), checkObject("metadata", metadata)), err
}
