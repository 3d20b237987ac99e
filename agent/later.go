package agent

import (
	"errors"
	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/tool"
)

// maxJobs is how many jobs a call, or the hooks of a step, may ask for.
const maxJobs = 100

// errEnded refuses a job of a tool that was left behind: its result is committed.
var errEnded = errors.New("the call has ended, and with it the time to ask for jobs")

// asked are the jobs that a call, or hooks, have asked for.
type asked struct {
	mu    sync.Mutex
	jobs  []tool.Job
	ended bool
}

// collect is a service that notes what take accepts; nil if that is.
func (a *asked) collect(take func(tool.Job) error) func(tool.Job) error {
	if take == nil {
		return nil
	}
	return func(j tool.Job) error {
		if err := take(j); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.ended {
			return errEnded
		}
		if len(a.jobs) >= maxJobs {
			return fmt.Errorf("more than %d jobs are asked for at once", maxJobs)
		}
		a.jobs = append(a.jobs, j)
		return nil
	}
}

// drain returns the jobs, once; behind the last time there are no others.
func (a *asked) drain(last bool) []tool.Job {
	a.mu.Lock()
	defer a.mu.Unlock()
	jobs := a.jobs
	a.jobs, a.ended = nil, last
	return jobs
}
