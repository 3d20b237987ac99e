// Package audit keeps who did what to which object, for the operator: sign-ins, refusals, deletions, changes of
// settings, and answers to questions about calls. A row has ids alone: no bodies, no tokens.
//
//	a route's column, the command line -> Log.Record -> the table audit -> pudu audit, GET /audit
//
// To record never fails what it is about, and never waits long: a row that cannot be written is logged as an error
// and counted.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/store"
)

// Verb is what was done.
type Verb string

// The verbs.
const (
	SignIn Verb = "sign-in" // a token was brought: the first time since the process began, or one that is none
	Call   Verb = "call"    // of a route that is audited only when it refuses the caller
	Look   Verb = "look"    // at what is the installation's
	Delete Verb = "delete"
	Change Verb = "change" // a setting, a token
	// These answer a call that waits for approval, in the words of package approval; edit gives it other arguments.
	Approve Verb = "approve"
	Edit    Verb = "edit"
	Reject  Verb = "reject"
	// Grant approves a call and others like it, or those before they are made.
	Grant Verb = "grant"
)

// Bounds.
const (
	// MaxRows are kept; the oldest go first.
	MaxRows = 200_000
	// trimEvery is after how many rows the process looks whether there are more.
	trimEvery = 1000
	// Window is how long refusals that are alike are counted before there is another row of them.
	Window = time.Minute
	// maxAlike and maxSeen bound what is remembered of refusals and of sign-ins.
	maxAlike, maxSeen = 1000, 4096
	// maxText bounds a column, in bytes.
	maxText = 256
	// patience bounds the wait for the database.
	patience = time.Second
)

// Entry is a row.
type Entry struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// User is who did it, empty for nobody and for the system; Role is what he was, Via how he came in.
	User string `json:"user"`
	Role string `json:"role"`
	Via  string `json:"via"`
	Verb Verb   `json:"verb"`
	// Kind and Object name what it was done to, such as "thread" and its id.
	Kind   string `json:"kind"`
	Object string `json:"object"`
	// Refused says why it was not done; empty if it was.
	Refused string `json:"refused,omitempty"`
	// Times is how often it happened; refusals that are alike share a row.
	Times int `json:"times"`
	// Request is the id of the HTTP request.
	Request string `json:"request_id,omitempty"`
}

// Of is an entry about what somebody does.
func Of(by access.Principal, verb Verb, kind, object string) Entry {
	return Entry{User: by.User.ID(), Role: string(by.Role), Via: by.Via, Verb: verb, Kind: kind, Object: object}
}

// Answers are entries about the answers to calls of a thread that wait for approval, by the calls' ids.
func Answers(by access.Principal, thread string, said map[string]string) (entries []Entry) {
	for _, call := range slices.Sorted(maps.Keys(said)) {
		entries = append(entries, Of(by, Verb(said[call]), "call", thread+"/"+call))
	}
	return entries
}

// Local is who works at the command line of this machine.
func Local() access.Principal {
	return access.Principal{User: access.Default(), Role: access.Admin, Via: "cli"}
}

// Log writes and reads the rows. A nil Log records nothing. Its methods may be called from many goroutines.
type Log struct {
	db   database.Bound
	log  *slog.Logger
	lost func()

	mu      sync.Mutex
	alike   map[Entry]*alike // refusals, without what may differ
	seen    map[string]bool  // who has signed in, by how he came in
	written int
}

// alike is what is known of refusals that are alike: when the last row of them was written, and the next one.
type alike struct {
	at   time.Time
	next Entry
}

// New is the audit log of a store. lost is told of rows that could not be written; nil is nobody.
func New(st database.Store, log *slog.Logger, lost func()) *Log {
	return &Log{
		db: st.Feature(Feature().Name).System(), log: cmp.Or(log, slog.Default()), lost: lost,
		alike: make(map[Entry]*alike), seen: make(map[string]bool),
	}
}

// Record writes entries, with the time and the id of the request in ctx. Of refusals that are alike it writes one a
// minute, which counts those since the last. That [Local] has looked it leaves out: he has the database before him.
func (l *Log) Record(ctx context.Context, entries ...Entry) {
	if l == nil {
		return
	}
	now := time.Now()
	l.mu.Lock()
	var rows []Entry
	for _, e := range entries {
		if e.Verb == Look && e.Via == Local().Via {
			continue
		}
		e.At, e.Request, e.Times = now, logctx.Of(ctx).Request, 1
		if e.Refused == "" || l.due(e) {
			rows = append(rows, e)
		}
	}
	rows = append(rows, l.counted(now.Add(-Window))...)
	l.mu.Unlock()
	l.write(ctx, rows)
}

// SignedIn records the first time since the process began that somebody comes in with a token.
func (l *Log) SignedIn(ctx context.Context, by access.Principal, token string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	first := !l.seen[by.Via]
	if len(l.seen) >= maxSeen {
		clear(l.seen)
	}
	l.seen[by.Via] = true
	l.mu.Unlock()
	if first {
		l.Record(ctx, Of(by, SignIn, "token", token))
	}
}

// Close writes what was only counted so far.
func (l *Log) Close(ctx context.Context) {
	if l == nil {
		return
	}
	l.mu.Lock()
	rows := l.counted(time.Now())
	l.mu.Unlock()
	l.write(ctx, rows)
}

// due counts a refusal; true if it is to be written now. l.mu is held.
func (l *Log) due(e Entry) bool {
	key := e
	key.At, key.Object, key.Request = time.Time{}, "", ""
	if len(l.alike) >= maxAlike && l.alike[key] == nil { // from so many addresses that one row stands for all
		key = Entry{}
	}
	a := l.alike[key]
	if a == nil {
		l.alike[key] = &alike{at: e.At}
		return true
	}
	if a.next.Times++; a.next.Times == 1 {
		a.next = e
	}
	return false
}

// counted takes the rows of refusals whose last row was written at a time or before, and forgets those without any
// since. l.mu is held.
func (l *Log) counted(until time.Time) (rows []Entry) {
	for key, a := range l.alike {
		switch {
		case a.at.After(until):
		case a.next.Times == 0:
			delete(l.alike, key)
		default:
			rows = append(rows, a.next)
			a.at, a.next = time.Now(), Entry{}
		}
	}
	return rows
}

// write writes rows, or tells that it could not.
func (l *Log) write(ctx context.Context, rows []Entry) {
	if len(rows) == 0 {
		return
	}
	wait, cancel := context.WithTimeout(store.WithPatience(context.WithoutCancel(ctx), patience), patience)
	defer cancel()
	l.mu.Lock()
	l.written += len(rows)
	trim := l.written >= trimEvery
	if trim {
		l.written = 0
	}
	l.mu.Unlock()
	for i := range rows {
		rows[i].ID = id.New(rows[i].At)
	}
	err := l.db.Write(wait, 0, func(tx database.Tx) (err error) {
		for _, e := range rows {
			if err == nil {
				_, err = tx.Exec("insert", e.values()...)
			}
		}
		if err == nil && trim {
			_, err = tx.Exec("trim", MaxRows)
		}
		return err
	})
	if err == nil {
		return
	}
	if l.lost != nil {
		l.lost()
	}
	for _, e := range rows {
		l.log.ErrorContext(ctx, "an audit row could not be written", "who", e.User, "via", e.Via,
			"verb", e.Verb, "kind", e.Kind, "object", e.Object, "refused", e.Refused, "error", err)
	}
}

func (e Entry) values() []any {
	text := func(s string) string { return excerpt.Bound(database.Plain(s), maxText) }
	return []any{
		e.ID, database.Micros(e.At), e.User, e.Role, text(e.Via), string(e.Verb), e.Kind, text(e.Object),
		text(e.Refused), e.Times, e.Request,
	}
}

// Filter says which rows, the newest first. Limit is 1 to 1001.
type Filter struct {
	User          string // empty is everybody
	Since         time.Time
	Limit, Offset int
}

// List returns rows.
func (l *Log) List(ctx context.Context, f Filter) (list []Entry, err error) {
	list = []Entry{}
	if l == nil {
		return list, nil
	}
	if err = database.CheckPage(f.Limit, 1001, f.Offset); err == nil {
		since := int64(0)
		if !f.Since.IsZero() {
			since = database.Micros(f.Since)
		}
		err = l.db.Read(ctx, "list", func(r database.Row) (bool, error) {
			var e Entry
			var at int64
			err := r.Scan(&e.ID, &at, &e.User, &e.Role, &e.Via, &e.Verb, &e.Kind, &e.Object, &e.Refused, &e.Times,
				&e.Request)
			e.At = database.TimeOf(at)
			list = append(list, e)
			return true, err
		}, since, f.User, f.Limit, f.Offset)
	}
	if err != nil {
		return nil, fmt.Errorf("list audit rows: %w", err)
	}
	return list, nil
}
