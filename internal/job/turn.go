package job

import (
	"context"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/store"
)

// What a try came to.
const (
	done    = "done"
	failed  = "failed"
	dead    = "dead"
	later   = "later"
	stopped = "stopped"
	gone    = "gone" // it was taken away meanwhile
)

// perform does a job and writes what became of it.
func (r *Runner) perform(stop, under context.Context, k Kind, j Job) (outcome string) {
	ran, err := r.attempt(stop, under, k, j)
	var wait LaterError
	switch {
	case ran:
		if outcome = done; err == nil && k.Done != nil {
			k.Done(j)
		}
		if err == nil || errors.Is(err, errGone) || stop.Err() != nil {
			break
		}
		return r.fail(stop, k, j, err) // the effect could not be written
	case errors.As(err, &wait):
		outcome, err = later, r.change(stop, j, "yield", r.cfg.Now().Add(time.Duration(wait)))
	case stop.Err() != nil, under.Err() != nil:
		outcome, err = stopped, r.change(stop, j, "yield", r.cfg.Now())
	default:
		return r.fail(stop, k, j, err)
	}
	return r.outcome(j, outcome, err)
}

// decisions is how often the effect of a try is decided at most: others were faster than all but the last.
const decisions = 8

// attempt does a job and writes its effect. It reports whether there was one to write.
func (r *Runner) attempt(stop, under context.Context, k Kind, j Job) (ran bool, err error) {
	run := func(ctx context.Context) (func(Tx) error, error) { return k.Run(ctx, j) }
	for range decisions {
		write, errTry := r.try(stop, under, k, j, run)
		if errTry != nil {
			return false, errTry
		}
		err = r.settle(stop, outage, func(x database.Joint) error { return r.finish(x, k, j, write) })
		var changed ChangedError
		if !errors.As(err, &changed) {
			break
		}
		run = changed
	}
	return true, err
}

// outcome says what could not be written.
func (r *Runner) outcome(j Job, outcome string, err error) string {
	if errors.Is(err, errGone) {
		return gone
	}
	if err != nil {
		r.cfg.Log.Warn("what became of a job could not be written; it is done again", "kind", j.Kind, "key", j.Key,
			"error", err)
	}
	return outcome
}

// fail has a job wait for its next try, or be dead.
func (r *Runner) fail(stop context.Context, k Kind, j Job, why error) string {
	log := r.cfg.Log.With("kind", j.Kind, "key", j.Key, "try", j.Attempt)
	wait := longestWait
	if n := j.Attempt - 1; n < 30 && k.Wait<<n < longestWait {
		wait = k.Wait << n
	}
	next := r.cfg.Now().Add(r.cfg.Spread(wait))
	if k.Every > 0 {
		next = r.cfg.Now().Add(max(wait, min(k.Every, longestWait)))
	}
	last, outcome := 0, failed
	if j.Last {
		last, outcome = 1, dead
		log.Error("a job failed and is given up; pudu jobs shows it", "error", why)
	} else {
		log.Warn("a job failed and is tried again", "error", why, "next", next)
	}
	return r.outcome(j, outcome, r.change(stop, j, "fail", next, excerpt.Clip(database.Plain(why.Error()), maxError),
		last))
}

// finish is the end of a job in the transaction of its effect: the row goes, unless there is another turn.
func (r *Runner) finish(x database.Joint, k Kind, j Job, write func(Tx) error) error {
	rows, n, err := x.System(Feature().Name), int64(0), error(nil)
	if k.Every == 0 {
		n, err = rows.Exec("finish", r.mine(j)...)
	}
	if now := r.cfg.Now(); err == nil && n == 0 {
		n, err = rows.Exec("again", append(r.mine(j), database.Micros(now), database.Micros(now.Add(k.Every)))...)
	}
	if err == nil && n == 0 {
		err = errGone
	}
	if err == nil && write != nil {
		err = write(Tx{x, j.User})
	}
	return err
}

// change gives a job back by a statement, to be done at a time, and drops the oldest of too many dead ones.
func (r *Runner) change(stop context.Context, j Job, statement string, next time.Time, more ...any) error {
	args := append(r.mine(j), database.Micros(r.cfg.Now()), database.Micros(next))
	// else nobody would do the job until this process ends
	again := func(err error) bool { return !errors.Is(err, errGone) }
	return r.settle(stop, again, func(x database.Joint) error {
		rows := x.System(Feature().Name)
		n, err := rows.Exec(statement, append(args, more...)...)
		if err == nil && n == 0 {
			err = errGone
		}
		if err == nil && j.Last {
			_, err = rows.Exec("trim", j.Kind, maxDead)
		}
		return err
	})
}

// mine names a job as long as it is this runner's.
func (r *Runner) mine(j Job) []any {
	return []any{j.User.ID(), j.Kind, j.Key, r.cfg.Owner, j.fence}
}

// outage reports whether the database cannot be used for a while.
func outage(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown)
}

// settle writes what became of a job. After an error that again accepts it tries again, until the process stops: then
// the next one does the job.
func (r *Runner) settle(stop context.Context, again func(error) bool, do func(database.Joint) error) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(stop), 10*time.Second)
		err := r.cfg.Store.Across(ctx, do)
		cancel()
		if err == nil || !again(err) {
			return err
		}
		r.cfg.Log.Warn("cannot write what became of a job", "error", err)
		select {
		case <-stop.Done():
			return err
		case <-time.After(wait):
		}
	}
}
