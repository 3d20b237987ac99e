package memory

import (
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

// edit is a write that is being decided: what is there, and what is to become of it.
type edit struct {
	all      *Memory
	was      record
	now      time.Time
	sections Sections
	facts    map[string]*Fact
	seq      int64 // the last of the facts
	entries  int64 // the last of the history

	puts    map[string]bool // those to write
	drops   []string        // those that go for good
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
	return len(e.puts)+len(e.drops)+len(e.notes)+len(e.sources) == 0 && e.sections == e.was.Sections
}

// put writes a fact, new or changed, with an entry of the history.
func (e *edit) put(f Fact, act, batch, why string) {
	n := note{fact: f.ID, folder: f.Folder, batch: batch, act: act, why: why}
	if old := e.facts[f.ID]; old != nil {
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
	delete(e.facts, id)
	delete(e.puts, id)
	e.drops = append(e.drops, id)
	e.notes = slices.DeleteFunc(e.notes, func(n note) bool { return n.fact == id })
	e.sources = slices.DeleteFunc(e.sources, func(s Source) bool { return s.fact == id })
}

// twin is the fact of a status that says the same to the same; nil if there is none.
func (e *edit) twin(f *Fact, status string) *Fact {
	want := same(f.Content)
	for _, id := range slices.Sorted(maps.Keys(e.facts)) {
		o := e.facts[id]
		if o.ID != f.ID && o.Status == status && o.Agent == f.Agent && o.Folder == f.Folder && same(o.Content) == want {
			return o
		}
	}
	return nil
}

// fresh is an id that no fact has.
func (e *edit) fresh() string {
	for {
		if id := e.all.cfg.NewID(); e.facts[id] == nil && !slices.Contains(e.drops, id) {
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
	for _, id := range e.drops {
		err = exec(err, tx, "drop", id)
		err = exec(err, tx, "forget", id)
	}
	for _, id := range slices.Sorted(maps.Keys(e.puts)) {
		if err == nil {
			err = writeFact(tx, e.facts[id])
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

// writeFact writes a row, and the terms that it is found by.
func writeFact(tx database.Tx, f *Fact) error {
	values, err := f.values()
	err = exec(err, tx, "put", values...)
	err = exec(err, tx, "unterm", f.seq)
	for _, t := range words.Index(f.Content + " " + f.Category + " " + f.Extension) {
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
		err = exec(err, tx, "note", seq, instant(e.now), n.fact, folder, n.batch, n.act, database.Plain(n.why), database.Plain(string(body)))
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
