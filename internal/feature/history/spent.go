package history

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/message"
)

// Run is what a run, or one below it, took.
type Run struct {
	ID, Status string
	// Below says that it was started by another run.
	Below bool
	Usage message.Usage
	// Models are the tokens of its answers, by the name that the model gave itself. What it took beyond them went into
	// calls beside the conversation, such as those for a title or a summary.
	Models map[string]int
}

// Spent are the runs of a thread with what they took, whatever branch they are on, the oldest first.
func (m *Mine) Spent(ctx context.Context, thread string) ([]Run, error) {
	list, err := m.spent(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("read what the runs of thread %.40q took: %w", thread, err)
	}
	return list, nil
}

func (m *Mine) spent(ctx context.Context, thread string) (list []Run, err error) {
	if _, err = m.sync(ctx, thread); err != nil {
		return nil, err
	}
	models := make(map[string]map[string]int)
	err = m.db.Read(ctx, "models", func(r database.Row) (bool, error) {
		var run, model string
		var tokens int
		err := r.Scan(&run, &model, &tokens)
		if models[run] == nil {
			models[run] = make(map[string]int)
		}
		models[run][model] = tokens
		return true, err
	}, thread)
	if err != nil {
		return nil, err
	}
	err = m.db.Read(ctx, "spent", func(r database.Row) (bool, error) {
		var run Run
		var root, usage string
		if err := r.Scan(&run.ID, &root, &run.Status, &usage); err != nil {
			return false, err
		}
		run.Below, run.Models = root != "", models[run.ID]
		list = append(list, run)
		if usage == "" {
			return true, nil
		}
		return true, json.Unmarshal([]byte(usage), &list[len(list)-1].Usage)
	}, thread)
	return list, err
}
