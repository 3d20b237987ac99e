// Package search finds words in what a user's threads have: their titles, the messages on their present branch, the
// names of their files. An [Indexer] keeps the index: a run's end, and every other change of a thread, enqueues a job
// for the thread (jobs.go); a job of the system finds what none was enqueued for, such as threads from before there
// was an index, or from a backup.
//
//	thread -> documents (docs.go) -> what differs from the index is written (index.go)
//	words  -> Searches.For(user).Find -> the newest that match, the best first -> Hits
//
// Which words match, in which language, is package words. The terms of each user have a prefix of their own, so that
// what others have is neither found nor gone through nor counted.
package search

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/words"
	"github.com/pudu-ai/pudu/internal/store"
)

// Forms of what is found.
const (
	Title   = "title"
	Message = "message"
	File    = "file"
)

const (
	// MaxHits is how far the pages of a search go.
	MaxHits = 200
	// maxFound is how many documents that match are compared: the newest, and as many titles. maxRead bounds their
	// texts, in bytes.
	maxFound, maxTitles = 200, 50
	maxRead             = 2 << 20
	// MaxThreads bounds the threads that a query is about.
	MaxThreads = 1000
	excerptLen = 200
)

// Query is what somebody looks for.
type Query struct {
	// Words are as package words reads them. Without a word nothing is found.
	Words string
	// Threads are those to look through, at most [MaxThreads]; nil are all.
	Threads []string
	// Since and Until bound the time of what is found; zero is no bound.
	Since, Until time.Time
	// Archived says to look through archived threads too.
	Archived bool
	// Limit is 1 to [MaxHits], Offset what stands before it; together they are at most MaxHits.
	Limit, Offset int
}

// Hit is something that was found.
type Hit struct {
	ThreadID string
	// Title is the thread's.
	Title string
	// Form is one of the forms above.
	Form string
	// Ref is the id of a message, or the path of a file.
	Ref string
	// Role is whose words a message has.
	Role string
	At   time.Time
	// Excerpt is where the words stand.
	Excerpt []words.Part
}

// Searches are those of all users.
type Searches struct {
	db  database.DB
	now func() time.Time
}

// New makes the searches of a store; nil means time.Now.
func New(st database.Store, now func() time.Time) *Searches {
	if now == nil {
		now = time.Now
	}
	return &Searches{st.Feature(Feature().Name), now}
}

// For are the searches of one user.
func (s *Searches) For(u access.User) *Mine { return &Mine{s.db.For(u), u, s.now} }

// Mine are the searches of one user.
type Mine struct {
	db   database.Bound
	user access.User
	now  func() time.Time
}

// Find returns a page of what was found, the best first, and whether there is more. More than [MaxHits] are never
// shown: of what nearly every message has, the newest is found.
func (m *Mine) Find(ctx context.Context, q Query) (hits []Hit, more bool, err error) {
	if err = q.check(); err == nil {
		hits, more, err = m.find(ctx, q)
	}
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	return hits, more, nil
}

func (q Query) check() error {
	if len(q.Threads) > MaxThreads {
		return fmt.Errorf("%w: %d threads are named, more than %d", store.ErrTooLarge, len(q.Threads), MaxThreads)
	}
	if err := database.CheckPage(q.Limit, MaxHits, q.Offset); err != nil {
		return err
	}
	if q.Limit+q.Offset > MaxHits {
		return fmt.Errorf("%w: only the first %d hits are shown; more words, or a filter, find fewer",
			store.ErrTooLarge, MaxHits)
	}
	return nil
}

func (m *Mine) find(ctx context.Context, q Query) ([]Hit, bool, error) {
	want := words.Parse(database.Plain(q.Words))
	if err := m.user.Check(); err != nil || len(want.All) == 0 || q.Threads != nil && len(q.Threads) == 0 {
		return []Hit{}, false, err
	}
	list := newRanking(&want, m.now())
	shard, args := shardOf(m.user), q.args()
	match := matchOf(want, shard)
	all, err := m.read(ctx, list, match, args, maxFound)
	if err == nil && !all { // titles may stand behind them
		_, err = m.read(ctx, list, match+` AND "`+shard+titleTerm+`"`, args, maxTitles)
	}
	if err != nil {
		return nil, false, err
	}
	found := list.best()
	end := min(len(found), q.Offset+q.Limit)
	hits := make([]Hit, 0, q.Limit)
	for _, d := range found[min(q.Offset, end):end] {
		hits = append(hits, d.hit())
	}
	return hits, end < min(len(found), MaxHits), nil
}

// read adds what matches to the list, and reports whether that is all there is.
func (m *Mine) read(
	ctx context.Context, list *ranking, match string, args []any, limit int,
) (all bool, err error) {
	size, n := 0, 0
	err = m.db.Read(ctx, "find", func(r database.Row) (bool, error) {
		var d document
		var at int64
		err := r.Scan(&d.thread, &d.title, &d.form, &d.ref, &d.role, &at, &d.text)
		d.at = database.TimeOf(at)
		list.add(d)
		n++
		size += len(d.text)
		return size < maxRead, err
	}, append(append([]any{match}, args...), limit)...)
	return n < limit && size < maxRead, err
}

// args are the filters as find.sql takes them.
func (q Query) args() []any {
	since, until, threads, archived := int64(math.MinInt64), int64(math.MaxInt64), "", 0
	if !q.Since.IsZero() {
		since = database.Micros(q.Since)
	}
	if !q.Until.IsZero() {
		until = database.Micros(q.Until)
	}
	if q.Threads != nil {
		list, _ := json.Marshal(q.Threads)
		threads = database.Plain(string(list))
	}
	if q.Archived {
		archived = 1
	}
	return []any{archived, threads, since, until}
}

// titleTerm is a term that titles have beside their words. No text has the sign in a term.
const titleTerm = "§title"

// shardOf begins the terms of a user. Two users may have the same; the statements name the user besides.
func shardOf(u access.User) string {
	sum := sha256.Sum256([]byte(u.ID()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:6])
}

// termsOf is what the index gets of a document.
func termsOf(d document, shard string) string {
	var b strings.Builder
	for _, t := range words.Index(d.text) {
		b.WriteString(shard)
		b.WriteString(t)
		b.WriteByte(' ')
	}
	if d.form == Title {
		b.WriteString(shard + titleTerm)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// matchOf is a query as FTS5 takes it. Terms have no sign that means anything to a database; find.postgres.sql turns
// what stands between them into what PostgreSQL takes.
func matchOf(q words.Query, shard string) string {
	var b strings.Builder
	for i, w := range q.All {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + shard + w.Text + `"`)
		if w.Prefix && !w.Alone() {
			b.WriteString(" *")
		}
	}
	for _, group := range q.Not {
		b.WriteString(` NOT ("` + shard + strings.Join(group, `" AND "`+shard) + `")`)
	}
	return b.String()
}
