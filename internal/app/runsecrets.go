package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/middleware/skillsecrets"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
)

func (e *engine) keepSecrets(u access.User, run, thread string, v secrets.Values) ([]store.Statement, error) {
	return e.given.For(u).Keep(run, thread, v)
}

// secretsOf are what the request of a job's run has brought, or that of the run at the top. What cannot be opened any
// more is missing: the model and the person are told of it when a skill needs it.
func (e *engine) secretsOf(ctx context.Context, c *lead.Config, job runs.Job) (*skillsecrets.Middleware, error) {
	mine := skillsecrets.Config{Skills: c.Skills, Below: job.Run.Parent != "", Log: e.log}
	if job.Request.Task != nil {
		mine.Named = job.Request.Task.Named
	}
	if len(job.Request.SecretNames) > 0 {
		var err error
		mine.Values, err = e.given.For(access.FromRow(job.Run.UserID)).Of(ctx, cmp.Or(job.Run.Root, job.Run.ID))
		lost := errors.Is(err, runsecrets.ErrGone) || errors.Is(err, secrets.ErrBroken) ||
			errors.Is(err, secrets.ErrOtherKey) ||
			errors.Is(err, secrets.ErrNoKey)
		if err != nil && !lost {
			return nil, err
		}
		if lost {
			e.log.Warn("a run goes on without its secrets", "run", job.Run.ID, "error", err)
		}
	}
	return skillsecrets.New(mine), nil
}
