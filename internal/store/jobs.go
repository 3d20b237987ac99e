package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxJobBody bounds the body of a job, in bytes.
const MaxJobBody = 64 << 10

// NewJob is work that is to follow: it is stored with what causes it, in one transaction, and done later by package
// job. A job of the same user, kind and key that is there already is the same job, which has then been asked for once
// more.
type NewJob struct {
	// Kind says who does it, Key what it is about: neither is empty, and both are texts of at most 256 bytes.
	Kind, Key string
	// Body is what the work needs to know, JSON of at most [MaxJobBody] bytes or nil. It holds no secrets: backups have
	// it.
	Body json.RawMessage
	// NotBefore is when it may begin; zero means at once. A job that waits and is asked for again waits until then, but
	// for no longer than the Latest of its first request, whose zero value means its NotBefore.
	NotBefore, Latest time.Time
}

// Check says what is wrong with a job.
func (j NewJob) Check() error {
	var errs []error
	for what, s := range map[string]string{"kind": j.Kind, "key": j.Key} {
		if s == "" || len(s) > 256 || strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
			errs = append(errs, fmt.Errorf("the %s of a job is a text of 1 to 256 bytes without NUL, not %.40q", what,
				s))
		}
	}
	if len(j.Body) > MaxJobBody {
		errs = append(errs,
			fmt.Errorf("%w: a job's body has at most %d bytes, not %d; keep the rest elsewhere and name it",
				ErrTooLarge, MaxJobBody, len(j.Body)))
	}
	if j.Body != nil && !json.Valid(j.Body) {
		errs = append(errs, fmt.Errorf("the body of a job is not JSON: %.40s", j.Body))
	}
	return errors.Join(errs...)
}

// After makes the jobs that follow the end of a run, whatever that is: success, failure, a cancellation while it waited
// or ran, a rollback. It is called inside the transaction that ends the run, with the run as it is then, perhaps more
// than once: it does nothing but look at the run.
type After func(r Run) []NewJob

// Changed makes the jobs that follow a change of a thread that no run has made: of its title, its metadata or its
// state, and that it was made. It is called inside the transaction, as [After] is.
type Changed func(threadID string) []NewJob

// Statement is a statement of a feature for the user, by its name, with the arguments behind that.
type Statement struct {
	Feature, Name string
	Args          []any
}
