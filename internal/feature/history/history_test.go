package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

func TestHistory(t *testing.T) {
	databases.Run(t, []database.Feature{history.Feature()}, []databases.Case{
		{Name: "pages are what is left of the state", Test: pagesAreTheState}, {Name: "versions", Test: versions},
		{Name: "runs", Test: ofRuns}, {Name: "of others", Test: ofOthers}, {Name: "two at once", Test: atOnce},
		{Name: "a branch before the first message", Test: fromOrigin},
		{Name: "copied, restored and deleted", Test: kept}, {Name: "large messages make small pages", Test: largePages},
		{Name: "a long thread", Test: longThread},
	})
}

var (
	now      = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	messages = state.Log("messages", func(m message.Message) string { return m.ID })
)

// sound fails the test if the store finds a fault in what it holds.
func sound(f *databases.Fixture) {
	f.Helper()
	schema, err := state.NewSchema(messages)
	f.Must(err)
	f.Must(f.Store.System().Verify(f.Context(), schema,
		store.Visitor{Problem: func(p store.Problem) { f.Errorf("fault: %+v", p) }}))
}

// talk is a thread that a test writes.
type talk struct {
	*databases.Fixture

	id     string
	schema state.Schema
	head   string
	at     map[string]state.State // by checkpoint
	all    []string               // the checkpoints
	clock  time.Time
}

func newTalk(f *databases.Fixture, id string) *talk {
	f.Helper()
	schema, err := state.NewSchema(messages)
	f.Must(err)
	f.Must(f.Store.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: id, CreatedAt: now, UpdatedAt: now}))
	empty, err := schema.Load(nil)
	f.Must(err)
	return &talk{Fixture: f, id: id, schema: schema, at: map[string]state.State{"": empty}, clock: now}
}

// from goes back to a checkpoint: what is written next begins a branch there.
func (k *talk) from(checkpoint string) *talk { k.head = checkpoint; return k }

// write makes a checkpoint behind the last one; false if the state refuses the update.
func (k *talk) write(u state.Update) bool {
	k.Helper()
	next, _, err := k.at[k.head].Apply(u)
	if err != nil {
		return false
	}
	parent := k.head
	if parent == "" {
		parent = store.Origin
	}
	k.clock = k.clock.Add(time.Second)
	id, err := k.Store.For(k.Ann()).Write(k.Context(), k.id, store.Step{
		Parent: parent, Updates: []store.NodeUpdate{{Node: "test", Update: u}}, State: next, Now: k.clock,
	})
	k.Must(err)
	k.head, k.at[id], k.all = id, next, append(k.all, id)
	return true
}

// say adds messages, "h:id" of a human, "a:id" of the model, "t:id" of a tool, "x:id" a hidden one.
func (k *talk) say(list ...string) *talk {
	k.Helper()
	var msgs []message.Message
	for _, s := range list {
		kind, id, _ := strings.Cut(s, ":")
		msgs = append(msgs, made(kind, id, "of "+id))
	}
	if !k.write(messages.Append(msgs...)) {
		k.Fatalf("%v was refused", list)
	}
	return k
}

func made(kind, id, text string) message.Message {
	role := map[string]message.Role{"h": message.Human, "a": message.AI, "t": message.Tool, "x": message.Human,
		"s": message.System}[kind]
	m := message.New(role, text)
	m.ID, m.ToolCallID = id, ""
	if kind == "x" {
		m.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	}
	return m
}

func (k *talk) mine() *history.Mine { return history.New(k.Store).For(k.Ann()) }

// walk reads a branch from its end to its beginning.
func (k *talk) walk(checkpoint string, limit int) (out []history.Message) {
	k.Helper()
	for before := int64(0); ; {
		p, err := k.mine().Page(k.Context(), history.Ask{Thread: k.id, Checkpoint: checkpoint, Before: before,
			Limit: limit})
		k.Must(err)
		out = append(slices.Clone(p.Messages), out...)
		if !p.More {
			return out
		}
		before = p.Messages[0].Seq
	}
}

// forwards reads the thread's branch from its beginning on, behind its first row, which is of no message.
func (k *talk) forwards(limit int) (out []history.Message) {
	k.Helper()
	for after := int64(1); ; {
		p, err := k.mine().Page(k.Context(), history.Ask{Thread: k.id, After: after, Limit: limit})
		k.Must(err)
		if out = append(out, p.Messages...); !p.More {
			return out
		}
		after = out[len(out)-1].Seq
	}
}

// everything is the whole branch of the thread, streamed.
func (k *talk) everything() (out []history.Message) {
	k.Helper()
	for m, err := range k.mine().All(k.Context(), k.id) {
		k.Must(err)
		out = append(out, m)
	}
	return out
}

// visible is what people are shown of a state.
func visible(s state.State) (out []string) {
	for _, m := range messages.Get(s) {
		if m.Role != message.System && string(m.Kwargs[message.KeyHidden]) != "true" {
			out = append(out, m.ID+" "+m.Text())
		}
	}
	return out
}

func (k *talk) texts(list []history.Message) (out []string) {
	k.Helper()
	for i, msg := range list {
		var m message.Message
		k.Must(json.Unmarshal(msg.Content, &m))
		if i > 0 && list[i-1].Seq >= msg.Seq {
			k.Errorf("seq %d comes after %d", msg.Seq, list[i-1].Seq)
		}
		if m.Role != msg.Kind {
			k.Errorf("the kind of %s is %s", m.Role, msg.Kind)
		}
		out = append(out, m.ID+" "+m.Text())
	}
	return out
}

// Whatever was written, the pages of a branch are the messages of its state that people are shown, with their last
// content.
func pagesAreTheState(f *databases.Fixture) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		k := newTalk(f, fmt.Sprint("t", seed))
		for i := range 120 {
			k.random(r, i)
			if r.IntN(8) > 0 || len(k.all) == 0 {
				continue
			}
			head := k.all[len(k.all)-1]
			f.Equal(fmt.Sprintf("seed %d, step %d", seed, i), k.texts(k.walk("", 1+r.IntN(7))), visible(k.at[head]))
			f.Equal(fmt.Sprintf("seed %d, step %d, forwards", seed, i), k.texts(k.forwards(1+r.IntN(7))),
				visible(k.at[head]))
			f.Equal(fmt.Sprintf("seed %d, step %d, streamed", seed, i), k.texts(k.everything()), visible(k.at[head]))
			at := k.all[r.IntN(len(k.all))]
			f.Equal(fmt.Sprintf("seed %d, step %d, another branch", seed, i), k.texts(k.walk(at, 1+r.IntN(7))),
				visible(k.at[at]))
		}
	}
	sound(f)
}

// random writes anything.
func (k *talk) random(r *rand.Rand, i int) {
	k.Helper()
	if len(k.all) > 0 && r.IntN(6) == 0 {
		k.from(k.all[r.IntN(len(k.all))])
	}
	kind := []string{"h", "a", "a", "t", "x", "s"}[r.IntN(6)]
	one := func() message.Message { return made(kind, fmt.Sprint("m", r.IntN(i+1)), fmt.Sprint("text ", i)) }
	switch r.IntN(12) {
	case 0:
		k.write(messages.Remove(one().ID))
	case 1:
		k.write(messages.Replace(one()))
	case 2:
		k.write(messages.Append(one(), one()).With(messages.Remove(one().ID)))
	case 3:
		if r.IntN(4) == 0 {
			k.write(messages.Reset(one()))
		}
	case 4:
		k.write(nil)
	default:
		k.write(messages.Append(one()))
	}
}

// versionsOf are the ids of a message's versions, the one of the thread's branch in brackets.
func (k *talk) versionsOf(id string) string {
	k.Helper()
	list, err := k.mine().Versions(k.Context(), k.id, id)
	k.Must(err)
	var out []string
	for _, v := range list {
		var m message.Message
		k.Must(json.Unmarshal(v.Content, &m))
		name := m.ID
		if v.Current {
			name = "[" + name + "]"
		}
		out = append(out, name)
		if got := k.texts(k.walk(v.Checkpoint, 50)); !slices.Contains(got, m.ID+" "+m.Text()) {
			k.Errorf("the branch of version %s of %s has %q", m.ID, id, got)
		}
	}
	return strings.Join(out, " ")
}

func (k *talk) expect(versions map[string]string) {
	k.Helper()
	for id, want := range versions {
		k.Equal("versions of "+id, k.versionsOf(id), want)
	}
}

func versions(f *databases.Fixture) {
	k := newTalk(f, "v").say("h:1").say("a:1a")
	base := k.head
	k.say("h:2").say("a:2a")
	asked := k.all[2]
	k.expect(map[string]string{"1": "[1]", "2": "[2]", "2a": "[2a]"})
	k.from(base).say("x:0", "h:2").say("a:2b") // once more, as DeerFlow's client does it
	k.expect(map[string]string{"2": "[2]", "2a": "2a [2b]", "2b": "2a [2b]", "1a": "[1a]"})
	k.from(asked).say("t:2t").say("a:2c") // and as LangGraph's does
	k.expect(map[string]string{"2": "[2]", "2a": "2a 2b [2c]"})
	k.from(base).say("h:2'").say("a:2'a").say("h:3").say("a:3a") // other words
	k.expect(map[string]string{"2": "2 [2']", "2'": "2 [2']", "2a": "2a 2b 2c", "2'a": "[2'a]", "3": "[3]",
		"3a": "[3a]"})

	p, err := k.mine().Page(k.Context(), history.Ask{Thread: k.id, Limit: 50})
	f.Must(err)
	f.Equal("versions in the page", places(k.texts(p.Messages), p.Messages), "1 | 1a | 2' 1 of [2 2'] | 2'a | 3 | 3a")
	p, err = k.mine().Page(k.Context(), history.Ask{Thread: k.id, Checkpoint: asked, Limit: 50})
	f.Must(err)
	f.Equal("versions in the page of another branch", places(k.texts(p.Messages), p.Messages), "1 | 1a | 2 0 of [2 2']")
	_, err = k.mine().Versions(k.Context(), k.id, "nobody's")
	f.Want(err, store.ErrNotFound, "nobody's")
	_, err = k.mine().Versions(k.Context(), k.id, "0")
	f.Want(err, store.ErrNotFound, "0") // it is hidden
}

func places(texts []string, msgs []history.Message) string {
	for i, m := range msgs {
		texts[i], _, _ = strings.Cut(texts[i], " ")
		if m.Versions != nil {
			texts[i] += fmt.Sprintf(" %d of %v", m.Versions.Index, m.Versions.All)
		}
	}
	return strings.Join(texts, " | ")
}

// A thread whose first words are changed.
func fromOrigin(f *databases.Fixture) {
	k := newTalk(f, "o").say("h:1").say("a:1a").from("").say("h:1'").say("a:1'a")
	f.Equal("pages", k.texts(k.walk("", 1)), visible(k.at[k.head]))
	k.expect(map[string]string{"1": "1 [1']", "1'": "1 [1']", "1a": "1a", "1'a": "[1'a]"})
	k.write(messages.Reset(made("h", "n", "new")))
	f.Equal("pages behind a reset", k.texts(k.walk("", 1)), []string{"n new"})
	k.expect(map[string]string{"n": "[n]"})
}

// ofRuns: the rows of runs lie side by side, whichever branch they are on.
func ofRuns(f *databases.Fixture) {
	k := newTalk(f, "r")
	run := func(id string, from string, say ...string) {
		f.Helper()
		mine := f.For(f.Ann())
		got, err := mine.Admit(f.Context(), store.Admission{
			Run: store.Run{ID: id, ThreadID: k.id, Owner: "o", Status: "pending", CreatedAt: k.clock,
				UpdatedAt: k.clock},
			Thread: store.Thread{ID: k.id}, MustExist: true, Strategy: store.Reject,
		})
		f.Must(err)
		st := k.at[from]
		for i, s := range say {
			kind, id, _ := strings.Cut(s, ":")
			u := messages.Append(made(kind, id, "of "+id))
			st, _, err = st.Apply(u)
			f.Must(err)
			k.clock = k.clock.Add(time.Second)
			step := store.Step{Updates: []store.NodeUpdate{{Node: "n", Update: u}}, State: st, Now: k.clock}
			if i == 0 && from != k.head {
				step.Parent = from
			}
			if i == len(say)-1 {
				step.Run = &store.RunChange{Status: "success"}
			}
			cp, err := f.Store.System().Commit(f.Context(), store.Fence{RunID: got.ID, Attempt: got.Attempt}, step)
			f.Must(err)
			k.head, k.at[cp], k.all = cp, st, append(k.all, cp)
		}
	}
	run("r1", "", "h:1", "t:1t", "a:1a", "a:1b")
	first := k.head
	run("r2", first, "h:2", "a:2a")
	run("r3", first, "h:2", "a:2b")
	k.say("h:4")
	for id, want := range map[string]string{"r1": "1 1t 1a 1b", "r2": "2 2a", "r3": "2 2b", "none": "", "": ""} {
		p, err := k.mine().OfRun(f.Context(), id, history.Ask{Thread: k.id, Limit: 50})
		f.Must(err)
		var got []string
		for _, text := range k.texts(p.Messages) {
			got = append(got, strings.Fields(text)[0])
		}
		f.Equal("messages of run "+id, strings.Join(got, " "), want)
	}
	p, err := k.mine().OfRun(f.Context(), "r1", history.Ask{Thread: k.id, Limit: 2})
	f.Must(err)
	f.Equal("the newest of a run", k.texts(p.Messages), []string{"1a of 1a", "1b of 1b"})
	last := p.Messages[1]
	f.Equal("its call", []any{p.More, last.Call, last.Took, last.Status, last.RunID},
		[]any{true, 2, time.Second, "success", "r1"})
	_, err = k.mine().Spent(f.Context(), k.id)
	f.Must(err)
	k.expect(map[string]string{"2a": "2a [2b]", "2": "[2]", "4": "[4]"})
}

func ofOthers(f *databases.Fixture) {
	k := newTalk(f, "a").say("h:1")
	his := history.New(f.Store).For(f.Bob())
	for _, thread := range []string{k.id, "none"} {
		_, err := his.Page(f.Context(), history.Ask{Thread: thread, Limit: 1})
		f.Want(err, store.ErrNotFound, thread)
		_, err = his.Versions(f.Context(), thread, "1")
		f.Want(err, store.ErrNotFound, thread)
		_, err = his.Turn(f.Context(), thread, "1")
		f.Want(err, store.ErrNotFound, thread)
		p, err := his.OfRun(f.Context(), "r", history.Ask{Thread: thread, Limit: 1})
		f.Must(err)
		f.Equal("messages of a run", len(p.Messages), 0)
		_, err = his.Spent(f.Context(), thread)
		f.Want(err, store.ErrNotFound, thread)
		for m, err := range his.All(f.Context(), thread) {
			f.Want(err, store.ErrNotFound, thread)
			f.Equal("a message of another", m.Seq, int64(0))
		}
	}
	_, err := k.mine().Page(f.Context(), history.Ask{Thread: k.id, Checkpoint: "none", Limit: 1})
	f.Want(err, store.ErrNotFound, k.id)
	_, err = k.mine().Page(f.Context(), history.Ask{Thread: k.id, Limit: history.MaxPage + 1})
	if err == nil {
		f.Error("a page may have any length")
	}
	_, err = history.New(f.Store).For(access.User{}).Page(f.Context(), history.Ask{Thread: k.id, Limit: 1})
	f.Want(err, access.ErrNoUser, k.id)
}

// Several who look for the first time note the same once.
func atOnce(f *databases.Fixture) {
	k := newTalk(f, "c")
	for i := range 50 {
		k.say(fmt.Sprint("h:", i))
	}
	stores := []database.Store{f.Store, f.Store}
	if other := f.Another(); other != nil {
		stores = append(stores, other)
	}
	f.Together(12, nil, func(i int) error {
		p, err := history.New(stores[i%len(stores)]).For(f.Ann()).Page(context.WithoutCancel(f.Context()),
			history.Ask{Thread: k.id, Limit: 50})
		if err == nil && len(p.Messages) != 50 {
			err = fmt.Errorf("%d messages", len(p.Messages))
		}
		return err
	})
	f.Equal("pages", k.texts(k.walk("", 9)), visible(k.at[k.head]))
	sound(f)
}

func kept(f *databases.Fixture) {
	k := newTalk(f, "k").say("h:1").say("a:1a").from("").say("h:1'")
	before := k.texts(k.walk("", 5))
	var dump strings.Builder
	_, err := f.Store.System().Dump(f.Context(), &dump)
	f.Must(err)
	to := store.Thread{ID: "copy", CreatedAt: now, UpdatedAt: now}
	f.Must(f.Store.For(f.Ann()).CopyThread(f.Context(), k.id, "", to))
	k.id = "copy"
	f.Equal("pages of a copy", k.texts(k.walk("", 5)), before)
	k.id = "k"
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(dump.String()), nil)
	f.Must(err)
	f.Equal("pages of what was restored", k.texts(k.walk("", 5)), before)
	k.say("a:1'a")
	f.Equal("pages that have grown", k.texts(k.walk("", 1)), visible(k.at[k.head]))
	sound(f)
	f.Must(f.Store.For(f.Ann()).DeleteThread(f.Context(), k.id))
	_, err = k.mine().Page(f.Context(), history.Ask{Thread: k.id, Limit: 1})
	f.Want(err, store.ErrNotFound, k.id)
	sound(f)
}

// A page has no more bytes than a client should take at once, but at least one message.
func largePages(f *databases.Fixture) {
	k := newTalk(f, "l")
	for i := range 4 {
		k.write(messages.Append(made("h", fmt.Sprint(i), strings.Repeat("x", 6<<20))))
	}
	p, err := k.mine().Page(f.Context(), history.Ask{Thread: k.id, Limit: 50})
	f.Must(err)
	f.Equal("messages", []any{len(p.Messages), p.More}, []any{2, true})
	f.Equal("all", len(k.walk("", 50)), 4)
}

// longThread: 50 of 5,000 messages are read in a small part of the time that their state takes, wherever they are. The
// log of the test has the figures.
func longThread(f *databases.Fixture) {
	k := newTalk(f, "long")
	const rounds, words = 1250,
		"as many words as people write to one another when they ask for something, and then some more; "
	for i := range rounds {
		var msgs []message.Message
		for j, kind := range []string{"h", "a", "t", "a"} {
			msgs = append(msgs, made(kind, fmt.Sprint(i, "-", j), strings.Repeat(words, 6)))
		}
		if !k.write(messages.Append(msgs...)) {
			f.Fatal("refused")
		}
	}
	f.Reopen()
	whole := took(func() {
		cp, err := f.For(f.Ann()).Checkpoint(f.Context(), k.schema, k.id, "")
		f.Must(err)
		f.Equal("messages of the state", len(messages.Get(cp.State)), 4*rounds)
	})
	page := func(before int64) (p history.Page) {
		p, err := k.mine().Page(f.Context(), history.Ask{Thread: k.id, Before: before, Limit: 50})
		f.Must(err)
		f.Equal("messages of the page", len(p.Messages), 50)
		return p
	}
	first := took(func() { page(0) })
	newest, middle := time.Hour, time.Hour
	for range 20 {
		newest = min(newest, took(func() { page(0) }))
		middle = min(middle, took(func() { page(3000) }))
	}
	n, held := 0, uint64(0)
	before := inUse()
	for _, err := range k.mine().All(f.Context(), k.id) {
		f.Must(err)
		if n++; n%500 == 0 {
			held = max(held, inUse())
		}
	}
	f.Equal("messages of the stream", n, 4*rounds)
	if held > before+(1<<20) {
		f.Errorf("a stream of %d messages holds %d KiB", n, (held-before)>>10)
	}
	f.Logf("the state of %d messages: %v; the first look: %v; a page of 50 after that: %v, in the middle %v; 1 to %.0f",
		4*rounds, whole, first, newest, middle, float64(whole)/float64(newest))
	if max(newest, middle) > whole/2 {
		f.Errorf("a page takes %v, or %v, and the whole state %v", newest, middle, whole)
	}
}

// inUse is the memory of what cannot be collected.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func took(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}
