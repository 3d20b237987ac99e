package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// attemptTimeout bounds what a worker takes, which is a second as a rule.
const attemptTimeout = 90 * time.Second

// site is a folder with one run, which one worker after the other executes.
type site struct {
	order order
	// seen is what readers have seen of all attempts, by message and by event.
	seen   map[string]string
	events map[string]string
	// items are what was written, see itemsOf.
	items    map[string]bool
	hits     []hit
	deaths   int // by the workers' own hands
	attempts int
	// idle counts the last processes in a row that are not known to have got the run further. A third one would end it.
	idle int
	// shared is the store while workers come and go, if it is one that processes share.
	shared *sqlstore.Store
}

func newSite(o order) *site {
	return &site{order: o, seen: make(map[string]string), events: make(map[string]string), items: make(map[string]bool)}
}

// attempt is what the marks of one process tell.
type attempt struct {
	counts   map[string]int  // of each mark
	tools    map[string]bool // the calls that run
	model    bool            // a model call runs
	commit   time.Time       // the last one; zero before the first
	own      bool            // something was committed after the run was claimed
	step     bool            // the run got further
	ended    bool            // the run is at its end
	status   string          // the run's, if it has ended, and the error that it ended with
	reason   string
	killedAt time.Time // zero if we did not
	killed   bool
	stalled  int // attempts in a row in which a run of the tree has not got further
}

// note takes a mark.
func (s *site) note(a *attempt, m mark) {
	a.counts[m.what]++
	switch m.what {
	case markBegin:
		a.tools[m.word(0)] = true
	case markEnd:
		delete(a.tools, m.word(0))
	case markModel:
		a.model = true
	case markAnswered:
		a.model = false
	case markCommit:
		a.commit = m.at
		a.own = a.own || a.counts[markCommit] > 1 // the first is the claim
		a.step = a.step || m.word(0) == commitStep
		for _, item := range m.words[1:] {
			s.items[item] = true
		}
	case markAttempt:
		a.stalled, _ = strconv.Atoi(m.word(1))
	case markEvent:
		s.events[m.word(0)] = m.word(2)
	case markMessage:
		s.seen[m.word(0)] = m.word(1)
	case markEnded:
		a.ended, a.status, a.reason = true, m.word(0), strings.Join(m.words[1:], " ")
	}
}

// start starts a worker, whose marks come from the pipe.
func (s *site) start(ctx context.Context) (*exec.Cmd, io.ReadCloser, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	s.attempts++
	o := s.order
	o.Owner = s.owner()
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, nil, err
	}
	log, err := os.OpenFile(filepath.Join(o.Dir, "worker.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, self)
	// saves a second where races are looked for
	cmd.Env = append(os.Environ(), workerEnv+"="+string(raw), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // the log then tells where it hung
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, out, cmd.Start()
}

// follow sends the marks of a worker until its output ends.
func follow(out io.Reader) (marks <-chan mark, failed func() error) {
	ch := make(chan mark, 64)
	var err error
	go func() {
		defer close(ch)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var m mark
			if m, err = parseMark(lines.Text()); err != nil {
				_, _ = io.Copy(io.Discard, out) // so that the worker does not wait
				return
			}
			ch <- m
		}
	}()
	return ch, func() error { return err }
}

// try runs one process and kills it when k says so, if it lives that long. An error means that the process failed.
func (s *site) try(ctx context.Context, k kill) (*attempt, error) {
	return s.attend(ctx, func(a *attempt, marks <-chan mark, cmd *exec.Cmd) { s.await(a, k, marks, cmd) })
}

// attend runs one process; conduct notes its marks until there are no more. An error means that the process failed.
func (s *site) attend(ctx context.Context, conduct func(*attempt, <-chan mark, *exec.Cmd)) (*attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	a := &attempt{counts: make(map[string]int), tools: make(map[string]bool)}
	cmd, out, err := s.start(ctx)
	if err != nil {
		return a, fmt.Errorf("start worker: %w", err)
	}
	marks, failed := follow(out)
	conduct(a, marks, cmd)
	err = errors.Join(failed(), cmd.Wait())
	switch {
	case ctx.Err() != nil:
		return a, fmt.Errorf("worker hangs: %w; its log is in %s", ctx.Err(), s.order.Dir)
	case failed() != nil || !killed(cmd):
	case !a.killedAt.IsZero():
		s.hits = append(s.hits, hitOf(a, s.idle))
		a.killed, err = true, s.endLease(ctx)
	case s.order.Die.File != "":
		s.deaths++
		a.killed, err = true, s.endLease(ctx)
	}
	if s.idle++; a.step {
		s.idle = 0
	}
	if err != nil {
		err = fmt.Errorf("worker failed: %w: %s", err, s.logTail())
	}
	return a, err
}

// killed reports whether a process was ended by SIGKILL.
func killed(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// owner is the name in the store of the worker that was started last.
func (s *site) owner() string { return fmt.Sprint("worker-", s.attempts) }

// endLease ends the lease of the worker that was killed, so that nobody has to wait for its end.
func (s *site) endLease(ctx context.Context) (err error) {
	if s.order.URL == "" {
		return nil
	}
	if s.shared == nil {
		if s.shared, err = s.open(ctx); err != nil {
			return err
		}
	}
	return s.shared.Release(ctx, s.owner())
}

// close lets go of the store.
func (s *site) close() error {
	if s.shared == nil {
		return nil
	}
	return s.shared.Close()
}

// await follows a process to its end, and kills it when it is time. The last attempt that the run has is spared until
// it got further; in a tree, where one run can stand still while others get further, before it is the last of any.
func (s *site) await(a *attempt, k kill, marks <-chan mark, cmd *exec.Cmd) {
	due := make(<-chan time.Time)
	armed, passed := false, false
	if k.mark == "" {
		due, armed = time.After(k.delay), true
	}
	shoot := func() {
		a.killedAt = time.Now()
		cmd.Process.Kill()
		due = nil
	}
	for {
		select {
		case m, ok := <-marks:
			if !ok {
				return
			}
			s.note(a, m)
			switch {
			case !a.killedAt.IsZero():
			case passed && a.step && !s.spared(a): // it was due while the run had to be spared
				shoot()
			case !armed && k.mark == m.what && a.counts[k.mark] >= k.nth:
				due, armed = time.After(k.delay), true
			}
		case <-due:
			if s.idle >= 2 && !a.step || s.spared(a) {
				passed = true
				continue
			}
			shoot()
		}
	}
}

// spared reports whether a run of a tree may not be kept from getting further once more.
func (s *site) spared(a *attempt) bool { return s.order.Tree && a.stalled >= 2 }

// logTail is the end of what the workers wrote to stderr.
func (s *site) logTail() string {
	raw, err := os.ReadFile(filepath.Join(s.order.Dir, "worker.log"))
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-3000):])
}

// open opens the store, which no worker holds.
func (s *site) open(ctx context.Context) (*sqlstore.Store, error) {
	return sqlstore.Open(ctx, s.order.storeConfig())
}

// theRun returns the one run of a site.
func theRun(ctx context.Context, st store.Store) (store.Run, error) {
	list, err := st.For(user()).ListRuns(ctx, store.RunFilter{ThreadID: threadID})
	if err != nil {
		return store.Run{}, err
	}
	if len(list) != 1 {
		return store.Run{}, fmt.Errorf("there are %d runs", len(list))
	}
	return list[0], nil
}
