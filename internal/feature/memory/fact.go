package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

// Bounds, in bytes and rows.
const (
	MaxContent = 2000
	maxRows    = 20_000
	// MaxProposed is how many facts of a user wait for a yes; the oldest go.
	MaxProposed = 100
	maxTopics   = 20
)

// Statuses of a fact.
const (
	Active = "active"
	// Proposed waits for a yes, and is told to nobody.
	Proposed = "proposed"
	// Gone was replaced or given up. It can come back for a while.
	Gone = "gone"
)

// Where a fact comes from.
const (
	Manual       = "manual"
	Conversation = "conversation"
	Consolidated = "consolidation"
	Imported     = "import"
	Unknown      = "unknown"
)

// Marks say why a fact is not taken for the user's own words.
const (
	// FromTool: a tool, or a page of the web, has said it.
	FromTool = "tool"
	// FromPaste: it stands in what the user has pasted, such as a file.
	FromPaste = "pasted"
	// FromModel: the model alone has said it.
	FromModel = "assistant"
	// Unsaid: nobody has said it.
	Unsaid = "unsaid"
	// Unclear: it may be a permission, which no fact is.
	Unclear = "unclear"
)

// Correction is the category of what the user has corrected: it is told first.
const Correction = "correction"

const other = "other"

// Categories are those of DeerFlow; whatever else is a kind of other.
func Categories() []string {
	return []string{"preference", Correction, "context", "goal", "behavior", "identity", "constraint", "decision",
		other}
}

// Fact is something that is remembered.
type Fact struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Content  string `json:"content"`
	Category string `json:"category"`
	// Agent is the agent that alone is told of it, Folder the folder whose threads alone are; empty are all.
	Agent  string `json:"agent,omitempty"`
	Folder string `json:"folder,omitempty"`
	// Thread is where it was learned.
	Thread     string    `json:"thread,omitempty"`
	Confidence float64   `json:"confidence"`
	Revision   int       `json:"revision"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	GoneAt     time.Time `json:"gone_at,omitzero"`
	// UsedAt is when a thread was last told of it, Uses how many were.
	UsedAt time.Time `json:"used_at,omitzero"`
	Uses   int       `json:"uses,omitempty"`
	Rest

	seq int64
}

// Rest is what no statement looks for.
type Rest struct {
	// Extension is the category's own name if that is other.
	Extension string   `json:"extension,omitempty"`
	Source    string   `json:"source,omitempty"`
	Topics    []string `json:"topics,omitempty"`
	// SourceError is what a correction says not to do.
	SourceError string `json:"source_error,omitempty"`
	// From are the facts that it was made of.
	From []string `json:"from,omitempty"`
	// Mark says why it is no plain word of the user; empty for one that is.
	Mark string `json:"mark,omitempty"`
	// Refused says that a person did not want it: it is not proposed again.
	Refused bool `json:"refused,omitempty"`
	// Replaces is the fact that it has replaced.
	Replaces string `json:"replaces,omitempty"`
	// ValidDays is how long it is expected to be true; 0 is not known.
	ValidDays     int       `json:"valid_days,omitempty"`
	Confirmations int       `json:"confirmations,omitempty"`
	ConfirmedAt   time.Time `json:"confirmed_at,omitzero"`
}

// SetCategory sets one of the categories, or another as a kind of other. A blank one is context.
func (f *Fact) SetCategory(s string) {
	s = strings.TrimSpace(s)
	f.Category, f.Extension = s, ""
	switch {
	case s == "":
		f.Category = "context"
	case !slices.Contains(Categories(), s):
		f.Category, f.Extension = other, s
	}
}

// Errors of what is asked for.
var (
	ErrEmpty     = errors.New("Memory fact content cannot be empty.")                                                   //nolint:staticcheck // DeerFlow's sentence
	ErrDuplicate = errors.New("A fact with the same content already exists.")                                           //nolint:staticcheck // DeerFlow's sentence
	ErrEvicted   = errors.New("Fact was not stored because the configured memory.max_facts capacity policy evicted it") //nolint:staticcheck // DeerFlow's sentence
	ErrChanged   = errors.New("Memory changed concurrently; reload and retry.")                                         //nolint:staticcheck // DeerFlow's sentence
)

// check says what is wrong with a fact that is to be kept.
func (f *Fact) check() error {
	f.Content = database.Plain(strings.TrimSpace(f.Content))
	f.SourceError = database.Plain(f.SourceError)
	if f.Content == "" {
		return ErrEmpty
	}
	var errs []error
	for what, s := range map[string]string{"category": f.Category, "kind of category": f.Extension, "agent": f.Agent,
		"thread": f.Thread} {
		errs = append(errs, database.CheckText(what, s))
	}
	if len(f.Topics) > maxTopics {
		f.Topics = f.Topics[:maxTopics]
	}
	if math.IsNaN(f.Confidence) || f.Confidence < 0 || f.Confidence > 1 {
		errs = append(errs, fmt.Errorf("the confidence of a fact is between 0 and 1, not %g", f.Confidence))
	}
	return errors.Join(append(errs, database.CheckID("fact", f.ID),
		database.CheckSize("a fact", len(f.Content), MaxContent),
		database.CheckSize("what a correction avoids", len(f.SourceError), MaxContent))...)
}

// same is what two facts have in common that say the same: their words, whatever their case and blanks.
func same(content string) string { return strings.ToLower(strings.Join(strings.Fields(content), " ")) }

// text is what a fact is found by.
func (f *Fact) text() string { return f.Content + " " + f.Category + " " + f.Extension }

// millionths keeps a confidence as a whole number.
const millionths = 1_000_000

// instant is what stands for a time in a row; 0 is none.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return database.Micros(t)
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return database.TimeOf(us)
}

// scanFact reads a row of those that select all columns.
func scanFact(r database.Row) (f Fact, err error) {
	var folder *string
	var confidence, created, updated, gone, used int64
	var rest string
	err = r.Scan(&f.ID, &f.seq, &f.Status, &f.Agent, &folder, &f.Thread, &f.Category, &confidence, &f.Revision,
		&created, &updated, &gone,
		&used, &f.Uses, &rest, &f.Content)
	if folder != nil {
		f.Folder = *folder
	}
	f.Confidence = float64(confidence) / millionths
	f.CreatedAt, f.UpdatedAt, f.GoneAt, f.UsedAt = timeOf(created), timeOf(updated), timeOf(gone), timeOf(used)
	if err == nil {
		err = json.Unmarshal([]byte(rest), &f.Rest)
	}
	return f, err
}

// values are the arguments of put.sql.
func (f *Fact) values() ([]any, error) {
	rest, err := json.Marshal(f.Rest)
	var folder *string
	if f.Folder != "" {
		folder = &f.Folder
	}
	return []any{
		f.ID, f.seq, f.Status, f.Agent, folder, f.Thread, f.Category, int64(math.Round(f.Confidence * millionths)),
		f.Revision, instant(f.CreatedAt), instant(f.UpdatedAt), instant(f.GoneAt), instant(f.UsedAt), f.Uses,
		database.Plain(string(rest)), f.Content,
	}, err
}
