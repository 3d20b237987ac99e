package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// The kinds of jobs that follow the end of a run. Their key is the run's id.
const (
	jobWebhook = "webhook"
	jobRemoval = "thread-removal"
)

const (
	// webhookLimit bounds one call of a webhook; as many are called side by side as webhookSlots says.
	webhookLimit = 15 * time.Second
	webhookSlots = 8
	afterTries   = 5
	// deleteAfter is how long a thread that goes with its run's end stays for those who still read it, and deleteLook
	// how often is looked whether the webhook of the run was called meanwhile.
	deleteAfter = 5 * time.Second
	deleteLook  = 2 * time.Second
)

// After is what follows the end of a run: a call of its webhook, the removal of its thread. It is for the store to
// call.
func After(run store.Run) (list []store.NewJob) {
	var req struct {
		Webhook        string `json:"webhook"`
		WebhookDropped bool   `json:"webhook_dropped"`
		OnCompletion   string `json:"on_completion"`
	}
	_ = json.Unmarshal(run.Request, &req) // a request that cannot be read asks for nothing
	if req.Webhook != "" || req.WebhookDropped {
		list = append(list, store.NewJob{Kind: jobWebhook, Key: run.ID})
	}
	if req.OnCompletion == DeleteThread {
		list = append(list, store.NewJob{Kind: jobRemoval, Key: run.ID, NotBefore: run.UpdatedAt.Add(deleteAfter)})
	}
	return list
}

// Kinds are the jobs that follow the ends of runs, for a [job.Runner].
func (m *Manager) Kinds() []job.Kind {
	return []job.Kind{
		{Name: jobWebhook, Slots: webhookSlots, Tries: afterTries, Timeout: webhookLimit, Run: m.callWebhook},
		{Name: jobRemoval, Slots: 1, Tries: afterTries, Run: m.removeThread},
	}
}

// endedRun is the run that a job is about; false if it is gone by now, or runs again.
func (m *Manager) endedRun(ctx context.Context, j job.Job) (run store.Run, req Request, there bool, err error) {
	if run, err = m.cfg.Store.For(j.User).Run(ctx, j.Key); err == nil {
		req, err = RequestOf(run)
	}
	if errors.Is(err, store.ErrNotFound) {
		return run, req, false, nil
	}
	return run, req, err == nil && !run.Active(), err
}

// callWebhook tells the webhook of a run that it has ended.
func (m *Manager) callWebhook(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
	run, req, there, err := m.endedRun(ctx, j)
	log := m.cfg.Log.With("run", j.Key)
	switch {
	case err != nil || !there:
		return nil, err
	case req.WebhookDropped:
		log.Warn("the webhook of a run from a backup is not called: backups leave webhooks out")
	case req.Webhook == "" || m.cfg.Notify == nil:
	default:
		if _, err := m.Webhook(run, req); err != nil { // which no later try changes
			log.Error("the webhook of a run is dropped", "error", err)
			return nil, nil
		}
		return nil, m.cfg.Notify(ctx, run)
	}
	return nil, nil
}

// removeThread removes the thread of a run whose request wants that, once nobody has to be told of the run any more.
func (m *Manager) removeThread(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
	_, req, there, err := m.endedRun(ctx, j)
	if err != nil || !there || req.OnCompletion != DeleteThread || m.cfg.Delete == nil {
		return nil, err
	}
	if waits, err := j.Waits(ctx, jobWebhook, j.Key); err != nil {
		return nil, err
	} else if waits {
		return nil, job.LaterError(deleteLook)
	}
	if err := m.cfg.Delete(ctx, j.User, j.Thread); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("the thread %s of a finished run was not deleted: %w", j.Thread, err)
	}
	return nil, nil
}

// Webhook is the URL that is told of the end of a run with this request; empty if there is none.
func (m *Manager) Webhook(run store.Run, req Request) (string, error) {
	if req.Webhook == "" || m.cfg.Unseal == nil {
		return req.Webhook, nil
	}
	return m.cfg.Unseal(access.FromRow(run.UserID), req.Webhook)
}
