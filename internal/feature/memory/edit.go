package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/words"
)

// What became of a fact, as the history has it.
const (
	ActAdded     = "added"
	ActChanged   = "changed"
	ActConfirmed = "confirmed"
	ActReplaced  = "replaced"
	ActRemoved   = "removed"
	ActEvicted   = "evicted"
	ActProposed  = "proposed"
	ActAccepted  = "accepted"
	ActRefused   = "refused"
	ActForgotten = "forgotten"
	ActImported  = "imported"
	ActSummary   = "summary"
	ActUndone    = "undone"
	ActRestored  = "restored"
	ActCleared   = "cleared"
)

// edit is a write that is being decided: what it has looked at, and what is to become of it. What it reads it reads
// once, and as it was when the edit began: else the write is refused.
type edit struct {
	all      *Memory
	was      record
	now      time.Time
	sections Sections
	seq      int64 // the last of the facts
	entries  int64 // the last of the history
	// find reads rows of the user; nil has none. err is what went wrong with that: an edit that has one is not written.
	find func(statement string, scan func(database.Row) (more bool, err error), args ...any) error
	err  error
	// facts are those that were looked at, by their ids, as they are to be: nil for one that is not there. stored is
	// how they are.
	facts, stored map[string]*Fact
	// whole says that all were looked at.
	whole bool

	puts    map[string]bool // those to write
	drops   []string        // those that go for good
	cleared bool            // all go for good that were there
	notes   []note
	sources []Source
}

// note is an entry of the history that is to be written.
type note struct {
	fact, folder, batch, act, why string
	body                          changed
}

// changed is what an entry says of a fact before and behind it; nil is no fact. Sections are those before.
type changed struct {
	Before   *Fact     `json:"before,omitempty"`
	After    *Fact     `json:"after,omitempty"`
	Sections *Sections `json:"sections,omitempty"`
}

func (e *edit) empty() bool {
	return len(e.puts)+len(e.drops)+len(e.notes)+len(e.sources) == 0 && !e.cleared && e.sections == e.was.Sections
}

// read reads rows, unless something went wrong before.
func (e *edit) read(statement string, scan func(database.Row) (bool, error), args ...any) {
	if e.err == nil && e.find != nil {
		e.err = e.find(statement, scan, args...)
	}
}

// look reads facts that were not looked at yet.
func (e *edit) look(statement string, args ...any) {
	e.read(statement, func(r database.Row) (bool, error) {
		f, err := scanFact(r)
		if _, known := e.facts[f.ID]; err == nil && !known {
			e.facts[f.ID], e.stored[f.ID] = &f, &f
		}
		return true, err
	}, args...)
}

// get is a fact; nil if it is not there.
func (e *edit) get(id string) *Fact {
	if _, known := e.facts[id]; !known && !e.whole && id != "" {
		e.look("fact", id)
	}
	return e.facts[id]
}

// those are the facts that fit, the oldest first, of what was looked at and what a statement finds.
func (e *edit) those(fit func(*Fact) bool, statement string, args ...any) (list []*Fact) {
	e.look(statement, args...)
	for _, f := range e.facts {
		if f != nil && fit(f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *Fact) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// put writes a fact, new or changed, with an entry of the history.
func (e *edit) put(f Fact, act, batch, why string) {
	n := note{fact: f.ID, folder: f.Folder, batch: batch, act: act, why: why}
	if old := e.get(f.ID); old != nil {
		before := *old
		n.body.Before, f.seq = &before, old.seq
	} else {
		e.seq++
		f.seq = e.seq
	}
	after := f
	n.body.After = &after
	e.facts[f.ID] = &f
	if e.puts == nil {
		e.puts = make(map[string]bool)
	}
	e.puts[f.ID] = true
	e.notes = append(e.notes, n)
}

// set changes the status of a fact.
func (e *edit) set(f *Fact, status, act, batch, why string) {
	c := *f
	c.Status, c.UpdatedAt, c.GoneAt = status, e.now, time.Time{}
	c.Revision++
	if status == Gone {
		c.GoneAt = e.now
	}
	e.put(c, act, batch, why)
}

// drop has a fact go for good, with what is written of it.
func (e *edit) drop(id string) {
	e.facts[id] = nil
	delete(e.puts, id)
	e.drops = append(e.drops, id)
	e.notes = slices.DeleteFunc(e.notes, func(n note) bool { return n.fact == id })
	e.sources = slices.DeleteFunc(e.sources, func(s Source) bool { return s.fact == id })
}

// sign is the term of all facts that say the same. It is no word.
func sign(content string) string {
	sum := sha256.Sum256([]byte(same(content)))
	return "=" + hex.EncodeToString(sum[:12])
}

// twins are the facts that say the same to the same.
func (e *edit) twins(f *Fact) []*Fact {
	want := same(f.Content)
	return e.those(func(o *Fact) bool {
		return o.ID != f.ID && o.Agent == f.Agent && o.Folder == f.Folder && same(o.Content) == want
	}, "twins", sign(f.Content))
}

// twin reports whether an active fact says the same to the same.
func (e *edit) twin(f *Fact) bool {
	return slices.ContainsFunc(e.twins(f), func(o *Fact) bool { return o.Status == Active })
}

// known reports whether a fact is there that says the same, waits to be decided about, or was refused.
func (e *edit) known(f *Fact) bool {
	return slices.ContainsFunc(e.twins(f), func(o *Fact) bool { return o.Status != Gone || o.Refused })
}

// fresh is an id that no fact has, or had.
func (e *edit) fresh() string {
	for {
		id := e.all.cfg.NewID()
		if e.get(id) == nil && !slices.Contains(e.drops, id) {
			return id
		}
	}
}

// write writes it all. It may run again: it changes nothing of the edit.
func (e *edit) write(tx database.Tx) error {
	body, err := json.Marshal(e.sections)
	if err != nil {
		return err
	}
	n, err := tx.Exec("begin", e.was.Revision+1, instant(e.now), database.Plain(string(body)), e.was.Revision)
	if err == nil && n == 0 {
		err = ErrChanged
	}
	if e.cleared {
		err = exec(err, tx, "clear")
		err = exec(err, tx, "clearhistory")
	}
	for _, id := range e.drops {
		err = exec(err, tx, "drop", id)
		err = exec(err, tx, "forget", id)
	}
	for _, id := range slices.Sorted(maps.Keys(e.puts)) {
		if err == nil {
			err = writeFact(tx, e.facts[id], e.stored[id])
		}
	}
	for _, s := range e.sources {
		err = exec(err, tx, "source", s.fact, s.Message, s.Thread, instant(s.At), database.Plain(s.Words))
	}
	if err == nil {
		err = e.writeNotes(tx)
	}
	return err
}

// exec runs a statement unless something went wrong before.
func exec(err error, tx database.Tx, statement string, args ...any) error {
	if err == nil {
		_, err = tx.Exec(statement, args...)
	}
	return err
}

// writeFact writes a row, and the terms that it is found by unless they are those of the row before.
func writeFact(tx database.Tx, f, was *Fact) error {
	values, err := f.values()
	err = exec(err, tx, "put", values...)
	if was != nil && was.text() == f.text() && was.Content == f.Content {
		return err
	}
	err = exec(err, tx, "unterm", f.seq)
	for _, t := range append(words.Index(f.text()), sign(f.Content)) {
		err = exec(err, tx, "term", t, f.seq)
	}
	return err
}

func (e *edit) writeNotes(tx database.Tx) error {
	seq := e.entries
	for _, n := range e.notes {
		seq++
		var folder *string
		if n.folder != "" {
			folder = &n.folder
		}
		body, err := json.Marshal(n.body)
		err = exec(err, tx, "note", seq, instant(e.now), n.fact, folder, n.batch, n.act, database.Plain(n.why),
			database.Plain(string(body)))
		if err != nil {
			return err
		}
	}
	if seq > maxHistory {
		_, err := tx.Exec("trim", seq-maxHistory)
		return err
	}
	return nil
}
