package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Document is a user's memory as DeerFlow's clients and files have it.
type Document struct {
	Version     string `json:"version"`
	Revision    int    `json:"revision"`
	LastUpdated string `json:"lastUpdated"`
	Sections
	Facts []FactDoc `json:"facts"`
}

// FactDoc is a fact in a [Document].
type FactDoc struct {
	ID                string    `json:"id"`
	Content           string    `json:"content"`
	Category          string    `json:"category"`
	CategoryExtension string    `json:"categoryExtension,omitempty"`
	Topics            []string  `json:"topics"`
	Confidence        *float64  `json:"confidence"`
	CreatedAt         string    `json:"createdAt"`
	Source            SourceDoc `json:"source"`
	SourceError       string    `json:"sourceError,omitempty"`
	SchemaVersion     int       `json:"schemaVersion"`
	Status            string    `json:"status"`
	Scope             ScopeDoc  `json:"scope"`
	Revision          int       `json:"revision"`
	UpdatedAt         string    `json:"updatedAt"`
	ConsolidatedFrom  []string  `json:"consolidatedFrom"`
	ValidDays         int       `json:"expected_valid_days,omitempty"`
	ConfirmedAt       string    `json:"lastConfirmedAt,omitempty"`
	Confirmations     int       `json:"confirmationCount,omitempty"`
}

// ScopeDoc says for whom a fact is.
type ScopeDoc struct {
	UserID    string `json:"userId"`
	AgentName string `json:"agentName"`
	// FolderID is the folder whose threads alone are told of it.
	FolderID string `json:"projectId,omitempty"`
}

// standard is the name of the standard agent in documents.
const standard = "__default__"

// SourceDoc is where a fact comes from: a word, or the id of a thread.
type SourceDoc string

// UnmarshalJSON takes DeerFlow's object too.
func (s *SourceDoc) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*s = SourceDoc(text)
		return nil
	}
	var o struct {
		Type   string `json:"type"`
		Thread string `json:"threadId"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return errors.New("source is neither a word nor an object")
	}
	*s = SourceDoc(cmp.Or(o.Thread, o.Type))
	return nil
}

// Versions of documents: before the first write, and behind it.
const (
	unwritten = "1.0"
	written   = "2.0"
)

// Stamp is a time as documents have it.
func Stamp(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Nanosecond() == 0:
		return t.UTC().Format("2006-01-02T15:04:05Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// parseStamp reads one; what is no time is none.
func parseStamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// docOf is a fact as documents have it.
func docOf(f *Fact, user string) FactDoc {
	d := FactDoc{
		ID: f.ID, Content: f.Content, Category: f.Category, CategoryExtension: f.Extension, Topics: f.Topics,
		Confidence: &f.Confidence, CreatedAt: Stamp(f.CreatedAt), Source: SourceDoc(cmp.Or(f.Source, Unknown)),
		SourceError: f.SourceError, SchemaVersion: 2, Status: f.Status,
		Scope: ScopeDoc{user, cmp.Or(f.Agent, standard), f.Folder}, Revision: f.Revision, UpdatedAt: Stamp(f.UpdatedAt),
		ConsolidatedFrom: f.From, ValidDays: f.ValidDays, ConfirmedAt: Stamp(f.ConfirmedAt),
		Confirmations: f.Confirmations,
	}
	if f.Source == Conversation && f.Thread != "" {
		d.Source = SourceDoc(f.Thread)
	}
	if d.Topics == nil {
		d.Topics = []string{}
	}
	if d.ConsolidatedFrom == nil {
		d.ConsolidatedFrom = []string{}
	}
	return d
}

// fact reads it.
func (d FactDoc) fact() Fact {
	f := Fact{
		ID: d.ID, Status: Active, Content: d.Content, Confidence: 0.5, Revision: max(d.Revision, 1),
		CreatedAt: parseStamp(d.CreatedAt), UpdatedAt: parseStamp(cmp.Or(d.UpdatedAt, d.CreatedAt)),
		Agent: strings.ToLower(d.Scope.AgentName), Folder: d.Scope.FolderID,
		Rest: Rest{
			Source: string(cmp.Or(d.Source, Unknown)), Topics: d.Topics, SourceError: d.SourceError,
			From: d.ConsolidatedFrom, ValidDays: max(0, d.ValidDays), Confirmations: max(0, d.Confirmations),
			ConfirmedAt: parseStamp(d.ConfirmedAt),
		},
	}
	if d.Confidence != nil {
		f.Confidence = *d.Confidence
	}
	if f.Agent == standard {
		f.Agent = ""
	}
	f.SetCategory(d.Category)
	if d.CategoryExtension != "" && f.Category == other {
		f.Extension = d.CategoryExtension
	}
	if !slices.Contains([]string{Manual, Conversation, Consolidated, Imported, Unknown}, f.Source) {
		f.Thread, f.Source = f.Source, Conversation
	}
	if d.Status == Proposed {
		f.Status = Proposed
	}
	return f
}

// Document is what the user has: the summaries, and the active facts by id.
func (m *Mine) Document(ctx context.Context) (Document, error) {
	r, err := m.record(ctx)
	var list []Fact
	if err == nil {
		list, err = m.read(ctx, "facts", Active, "", maxRows)
	}
	if err != nil {
		return Document{}, fmt.Errorf("read memory: %w", err)
	}
	d := Document{Version: written, Revision: r.Revision, LastUpdated: Stamp(r.UpdatedAt), Sections: r.Sections,
		Facts: make([]FactDoc, len(list))}
	if r.Revision == 0 {
		d.Version, d.LastUpdated = unwritten, Stamp(m.all.cfg.Now())
	}
	for i := range list {
		d.Facts[i] = docOf(&list[i], m.UserID())
	}
	return d, nil
}

// MaxImport bounds the facts of a document, MaxDocument its bytes.
const (
	MaxImport   = 10_000
	MaxDocument = 16 << 20
)

// DocumentError says which fact of a document cannot be taken, and why.
type DocumentError struct {
	At  int
	Err error
}

// Error implements error.
func (e *DocumentError) Error() string { return fmt.Sprintf("fact %d: %v", e.At, e.Err) }

// Unwrap returns why.
func (e *DocumentError) Unwrap() error { return e.Err }

// ParseDocument reads a document. Unknown keys are left out.
func ParseDocument(raw []byte) (Document, error) {
	var d Document
	if err := database.CheckSize("a memory document", len(raw), MaxDocument); err != nil {
		return d, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("read a memory document: %w", err)
	}
	if _, err := dec.Token(); err == nil {
		return Document{}, errors.New("read a memory document: something follows it")
	}
	return d, nil
}

// Import replaces the user's memory by a document. Facts of folders that the user has not become those of all threads.
// What was there can come back for a while, but for what the document has under the same id.
func (m *Mine) Import(ctx context.Context, d Document) error {
	if len(d.Facts) > MaxImport {
		return fmt.Errorf("import memory: %w: it has %d facts, more than %d", store.ErrTooLarge, len(d.Facts),
			MaxImport)
	}
	there := map[string]bool{"": true}
	err := m.db.Read(ctx, "folders", func(r database.Row) (bool, error) {
		var id string
		err := r.Scan(&id)
		there[id] = true
		return true, err
	})
	if err != nil {
		return fmt.Errorf("import memory: %w", err)
	}
	return m.change(ctx, "import memory", func(e *edit) error {
		before := e.those(func(f *Fact) bool { return f.Status != Gone }, "facts", "", "", maxRows)
		e.whole = true
		kept := make(map[string]bool)
		for i, doc := range d.Facts {
			f := doc.fact()
			if !there[f.Folder] {
				f.Folder = ""
			}
			if err := f.check(); err != nil {
				return &DocumentError{i, err}
			}
			if kept[f.ID] {
				return &DocumentError{i, fmt.Errorf("%w: the id %.40q stands twice", store.ErrConflict, f.ID)}
			}
			kept[f.ID] = true
			e.put(f, ActImported, "", "")
		}
		for _, f := range before {
			if !kept[f.ID] {
				e.set(f, Gone, ActImported, "", "a document took its place")
			}
		}
		e.sections = d.Sections
		e.sections.each(func(_ string, s *Section) {
			s.Summary, s.UpdatedAt = database.Plain(cut(s.Summary, maxSummary)), database.Plain(cut(s.UpdatedAt, 64))
		})
		e.notes = append(e.notes, note{act: ActImported}) // an empty document is a write too
		return nil
	})
}

// cut is the beginning of a text, of whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
