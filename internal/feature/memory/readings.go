package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// reading is how far a thread was read.
type reading struct {
	Thread string `json:"-"`
	// Read are the ids of the last messages that were read: when some of them are taken back, an older one still tells
	// the place.
	Read []string `json:"read"`
	// Spent is what all readings of the thread took, by their models.
	Spent map[string]Spent `json:"spent,omitempty"`
}

// Spent are the tokens that readings took.
type Spent struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

// maxModels bounds the models that are told apart.
const maxModels = 20

// spend counts the tokens of an answer.
func (r *reading) spend(name string, u message.Usage) {
	if _, known := r.Spent[name]; !known && len(r.Spent) >= maxModels {
		name = other
	}
	was := r.Spent[name]
	if r.Spent == nil {
		r.Spent = make(map[string]Spent)
	}
	r.Spent[name] = Spent{was.Input + u.InputTokens, was.Output + u.OutputTokens, was.Total + u.TotalTokens}
}

// Spent is what the readings of a thread took, by their models.
func (m *Mine) Spent(ctx context.Context, thread string) (map[string]Spent, error) {
	r, err := m.reading(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("count what the readings of thread %.40q took: %w", thread, err)
	}
	return r.Spent, nil
}

// maxRead is how many ids are kept.
const maxRead = 50

func lastIDs(msgs []message.Message) (ids []string) {
	for _, m := range msgs[max(0, len(msgs)-maxRead):] {
		if !conversation.IsNote(m, NoteName) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (m *Mine) reading(ctx context.Context, thread string) (r reading, err error) {
	err = m.db.Read(ctx, "reading", func(row database.Row) (bool, error) {
		var body string
		err := row.Scan(&body)
		if err == nil {
			err = json.Unmarshal([]byte(body), &r)
		}
		return false, err
	}, thread)
	return r, err
}

// write keeps it, unless the thread is gone, or something went wrong before.
func (r *reading) write(err error, tx database.Tx, now time.Time) error {
	body, bad := json.Marshal(r)
	return exec(errors.Join(err, bad), tx, "read", r.Thread, instant(now), database.Plain(string(body)))
}
