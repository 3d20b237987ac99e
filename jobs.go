package pudu

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/tool"
)

// JobKind is a kind of work that follows a step: what takes long, or may fail and be tried again, and is not to be lost
// when the process ends. Tools and hooks ask for it by [tool.Env.Later]; a process that serves does it ("pudu serve",
// or any after [Pudu.Handler]), also another one than has run the tool. "pudu jobs" shows what waits and what has
// failed.
type JobKind struct {
	// Name is that of the kind, 1 to 256 bytes.
	Name string
	// Slots is how many are done side by side in a process, Tries how often one is tried; 0 means 1.
	Slots, Tries int
	// Timeout bounds one try; 0 means a minute.
	Timeout time.Duration
	// Wait is the wait before the second try, which doubles with each, up to an hour; 0 means 2 seconds.
	Wait time.Duration
	// Run does a job. An error, or a panic, is a try that has failed. Where a process was killed before the end was
	// written, Run is called again, so what acts outside tells by [Job.ID] that it is the same.
	Run func(ctx context.Context, j Job) error
}

// Job is a job that is being done.
type Job struct {
	// ID is the same at each try, and another when the job was asked for again.
	ID string
	// Kind, Key and Body are what was asked for.
	Kind, Key string
	Body      json.RawMessage
	// Attempt counts the tries, from 1; Last says that no other follows if this one fails.
	Attempt int
	Last    bool
	// Env is what the job may use: Ref has the user and the thread. There are HTTP, items and models.
	Env tool.Env
}

// works are kinds as the program takes them.
func works(kinds []JobKind) (list []app.Work) {
	for _, k := range kinds {
		w := app.Work{Kind: job.Kind{Name: k.Name, Slots: k.Slots, Tries: k.Tries, Timeout: k.Timeout, Wait: k.Wait}}
		if run := k.Run; run != nil {
			w.Do = func(ctx context.Context, j job.Job, env tool.Env) error {
				return run(ctx, Job{ID: j.ID(), Kind: j.Kind, Key: j.Key, Body: j.Body, Attempt: j.Attempt,
					Last: j.Last, Env: env})
			}
		}
		list = append(list, w)
	}
	return list
}
