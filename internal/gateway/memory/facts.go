package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/words"
	"github.com/pudu-ai/pudu/internal/store"
)

// content is what a fact says; nil if a client leaves it out.
type content struct{ value *string }

// ReadFrom implements [route.Reader].
func (c *content) ReadFrom(in *route.Input, name string) {
	raw := in.Raw(name)
	if raw == nil {
		return
	}
	s := in.Text(name, memory.MaxContent)
	if c.value = &s; string(raw) == `""` {
		in.Add("string_too_short", "String should have at least 1 character", raw,
			in.Loc(name)...).Ctx = map[string]any{"min_length": 1}
	}
}

// needed is content that must be there.
type needed struct{ content }

// ReadFrom implements [route.Reader].
func (c *needed) ReadFrom(in *route.Input, name string) {
	if in.Raw(name) == nil {
		whole := []byte("{}")
		if raw, err := json.Marshal(in.Members); err == nil && in.Members != nil {
			whole = raw
		}
		in.Add("missing", "Field required", route.Quoted(whole), in.Loc(name)...)
		c.value = new(string)
		return
	}
	c.content.ReadFrom(in, name)
}

// share is a number between 0 and 1; nil if a client leaves it out.
type share struct{ value *float64 }

// ReadFrom implements [route.Reader].
func (s *share) ReadFrom(in *route.Input, name string) {
	raw := in.Raw(name)
	if raw == nil {
		return
	}
	v, err := route.Decimal(route.Unquoted(raw))
	add := func(typ, msg string) *route.Fault { return in.Add(typ, msg, route.Quoted(raw), in.Loc(name)...) }
	switch {
	case err != nil || math.IsNaN(v):
		add("float_parsing", "Input should be a valid number, unable to parse string as a number")
	case v < 0:
		add("greater_than_equal", "Input should be greater than or equal to 0").Ctx = map[string]any{"ge": 0.0}
	case v > 1:
		add("less_than_equal", "Input should be less than or equal to 1").Ctx = map[string]any{"le": 1.0}
	}
	s.value = &v
}

// word is a short text that need not be there.
type word struct{ value *string }

// ReadFrom implements [route.Reader].
func (w *word) ReadFrom(in *route.Input, name string) {
	const most = 200
	if in.Raw(name) != nil {
		s := in.Text(name, most)
		w.value = &s
	}
}

func (w word) or(def string) string {
	if w.value == nil {
		return def
	}
	return *w.value
}

type addIn struct {
	Content    needed `body:"content" types:"string" required:""`
	Category   word   `body:"category" types:"string"`
	Confidence share  `body:"confidence" types:"number"`
	// Agent and Folder are for whom the fact is: an agent alone, the threads of a folder alone.
	Agent  word `body:"agent" types:"string"`
	Folder word `body:"folder_id" types:"string"`
}

func (g *Group) add(ctx context.Context, in *addIn) (memory.Document, error) {
	const unsure = 0.5
	f := memory.Fact{Content: *in.Content.value, Confidence: unsure, Agent: strings.ToLower(in.Agent.or("")),
		Folder: in.Folder.or("")}
	if in.Confidence.value != nil {
		f.Confidence = *in.Confidence.value
	}
	f.SetCategory(in.Category.or(""))
	_, err := g.mine(ctx).Add(ctx, f)
	return g.changed(ctx, err, "")
}

type oneIn struct {
	Fact string `path:"fact_id"`
}

type patchIn struct {
	oneIn

	Content    content `body:"content" types:"string"`
	Category   word    `body:"category" types:"string"`
	Confidence share   `body:"confidence" types:"number"`
}

func (g *Group) patch(ctx context.Context, in *patchIn) (memory.Document, error) {
	p := memory.Patch{Content: in.Content.value, Category: in.Category.value, Confidence: in.Confidence.value}
	_, err := g.mine(ctx).Change(ctx, in.Fact, p)
	return g.changed(ctx, err, in.Fact)
}

func (g *Group) forget(ctx context.Context, in *oneIn) (memory.Document, error) {
	_, err := g.mine(ctx).Forget(ctx, in.Fact)
	return g.changed(ctx, err, in.Fact)
}

func (g *Group) accept(ctx context.Context, in *oneIn) (memory.Document, error) {
	_, err := g.mine(ctx).Accept(ctx, in.Fact)
	return g.changed(ctx, err, in.Fact)
}

func (g *Group) refuse(ctx context.Context, in *oneIn) (memory.Document, error) {
	_, err := g.mine(ctx).Refuse(ctx, in.Fact)
	return g.changed(ctx, err, in.Fact)
}

func (g *Group) restore(ctx context.Context, in *oneIn) (memory.Document, error) {
	_, err := g.mine(ctx).Restore(ctx, in.Fact)
	return g.changed(ctx, err, in.Fact)
}

type threadIn struct {
	Thread string `path:"thread_id"`
}

func (g *Group) forgetThread(ctx context.Context, in *threadIn) (memory.Document, error) {
	_, err := g.mine(ctx).ForgetThread(ctx, in.Thread)
	return g.changed(ctx, err, "")
}

func (g *Group) undo(ctx context.Context, _ *nothing) (memory.Document, error) {
	_, err := g.mine(ctx).Undo(ctx)
	if memoryEmpty(err) {
		err = route.Failf(http.StatusConflict,
			"There is nothing to take back: no conversation was read, or the last reading was taken back already")
	}
	return g.changed(ctx, err, "")
}

// factJSON is a fact as our own pages see it.
type factJSON struct {
	FactID      string     `json:"fact_id"`
	Content     string     `json:"content"`
	Category    string     `json:"category"`
	Extension   string     `json:"category_extension"`
	Status      string     `json:"status"`
	Confidence  float64    `json:"confidence"`
	Agent       string     `json:"agent"`
	FolderID    string     `json:"folder_id"`
	ThreadID    string     `json:"thread_id"`
	Source      string     `json:"source"`
	Mark        string     `json:"mark"`
	Replaces    string     `json:"replaces"`
	DerivedFrom []string   `json:"derived_from"`
	Revision    int        `json:"revision"`
	CreatedAt   *string    `json:"created_at"`
	UpdatedAt   *string    `json:"updated_at"`
	UsedAt      *string    `json:"used_at"`
	Uses        int        `json:"uses"`
	Excerpt     []partJSON `json:"excerpt,omitzero"` // of what was looked for
}

type partJSON struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked"`
}

func factOf(f memory.Fact) factJSON {
	out := factJSON{
		FactID: f.ID, Content: f.Content, Category: f.Category, Extension: f.Extension, Status: f.Status,
		Confidence: f.Confidence, Agent: f.Agent, FolderID: f.Folder, ThreadID: f.Thread,
		Source: cmp.Or(f.Source, memory.Unknown), Mark: f.Mark, Replaces: f.Replaces, DerivedFrom: f.From,
		Revision: f.Revision, CreatedAt: shape.OrNil(memory.Stamp(f.CreatedAt)),
		UpdatedAt: shape.OrNil(memory.Stamp(f.UpdatedAt)), UsedAt: shape.OrNil(memory.Stamp(f.UsedAt)), Uses: f.Uses,
	}
	if out.DerivedFrom == nil {
		out.DerivedFrom = []string{}
	}
	return out
}

func hitOf(h memory.Hit) factJSON {
	out := factOf(h.Fact)
	out.Excerpt = []partJSON{}
	for _, p := range h.Excerpt {
		out.Excerpt = append(out.Excerpt, partJSON(words.Part{Text: p.Text, Marked: p.Marked}))
	}
	return out
}

type listIn struct {
	Words  string `query:"q" max:"1000"`
	Status string `query:"status" enum:",active,proposed,gone"`
	After  string `query:"after" max:"256"`
	Limit  int    `query:"limit" default:"100" min:"1" max:"1000"`
}

// listJSON are facts by id, or the best first if words were given. Next is the id behind which more stand.
type listJSON struct {
	Facts []factJSON `json:"facts"`
	Next  string     `json:"next,omitempty"`
}

func (g *Group) list(ctx context.Context, in *listIn) (listJSON, error) {
	out := listJSON{Facts: []factJSON{}}
	if in.Words != "" {
		hits, err := g.mine(ctx).
			Search(ctx, memory.Query{Words: in.Words, Status: in.Status, Limit: min(in.Limit, memory.MaxFound)})
		for _, h := range hits {
			out.Facts = append(out.Facts, hitOf(h))
		}
		return out, err
	}
	list, err := g.mine(ctx).Facts(ctx, in.Status, in.After, in.Limit+1)
	for i, f := range list {
		if i == in.Limit {
			out.Next = list[i-1].ID
			break
		}
		out.Facts = append(out.Facts, factOf(f))
	}
	return out, err
}

// storyJSON is all that is known of a fact.
type storyJSON struct {
	Fact    factJSON     `json:"fact"`
	Sources []sourceJSON `json:"sources"`
	Uses    []useJSON    `json:"uses"`
	History []entryJSON  `json:"history"`
}

type sourceJSON struct {
	ThreadID  string `json:"thread_id"`
	Title     string `json:"title"`
	MessageID string `json:"message_id"`
	At        string `json:"at"`
	Words     string `json:"words"`
}

type useJSON struct {
	ThreadID string `json:"thread_id"`
	Title    string `json:"title"`
	At       string `json:"at"`
}

type entryJSON struct {
	Number int64  `json:"number"`
	At     string `json:"at"`
	FactID string `json:"fact_id"`
	Batch  string `json:"batch"`
	Act    string `json:"act"`
	Why    string `json:"why"`
	// Before and After are what the fact said.
	Before *string `json:"before"`
	After  *string `json:"after"`
}

func entriesOf(list []memory.Entry) []entryJSON {
	out := make([]entryJSON, len(list))
	for i, e := range list {
		out[i] = entryJSON{Number: e.Seq, At: memory.Stamp(e.At), FactID: e.Fact, Batch: e.Batch, Act: e.Act,
			Why: e.Why}
		if e.Before != nil {
			out[i].Before = &e.Before.Content
		}
		if e.After != nil {
			out[i].After = &e.After.Content
		}
	}
	return out
}

func (g *Group) story(ctx context.Context, in *oneIn) (storyJSON, error) {
	s, err := g.mine(ctx).Story(ctx, in.Fact)
	out := storyJSON{factOf(s.Fact), []sourceJSON{}, []useJSON{}, entriesOf(s.History)}
	for _, x := range s.Sources {
		out.Sources = append(out.Sources, sourceJSON{x.Thread, x.Title, x.Message, memory.Stamp(x.At), x.Words})
	}
	for _, x := range s.Uses {
		out.Uses = append(out.Uses, useJSON{x.Thread, x.Title, memory.Stamp(x.At)})
	}
	return out, answer(err, in.Fact)
}

type historyIn struct {
	Before int `query:"before"`
	Limit  int `query:"limit" default:"50" min:"1" max:"200"`
}

// historyJSON are entries, the newest first.
type historyJSON struct {
	History []entryJSON `json:"history"`
}

func (g *Group) history(ctx context.Context, in *historyIn) (historyJSON, error) {
	list, err := g.mine(ctx).History(ctx, "", int64(in.Before), in.Limit)
	return historyJSON{entriesOf(list)}, err
}

type whyIn struct {
	Run store.Run `of:"run"`
}

// whyJSON are the facts that a run knew of.
type whyJSON struct {
	Facts []toldJSON `json:"facts"`
}

type toldJSON struct {
	FactID   string `json:"fact_id"`
	Revision int    `json:"revision"`
	// Content is what the model was told; empty if the fact was forgotten since.
	Content string `json:"content"`
	Why     string `json:"why"`
	// Since is the run that was told it.
	Since string `json:"since_run_id"`
	// Now is how the fact stands now: active, proposed, gone, changed, or forgotten.
	Now string `json:"now"`
}

func (g *Group) why(ctx context.Context, in *whyIn) (whyJSON, error) {
	list, err := g.Told(ctx, route.Caller(ctx).User, in.Run)
	out := whyJSON{Facts: make([]toldJSON, len(list))}
	for i, t := range list {
		out.Facts[i] = toldJSON{t.ID, t.Revision, t.Content, t.Why, t.Run, t.Now}
	}
	return out, err
}
