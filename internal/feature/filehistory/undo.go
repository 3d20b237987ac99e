package filehistory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// Undo asks for the changes of a run to be taken back.
type Undo struct {
	// Run is the run, or the id of an undo that is to be undone.
	Run string
	// Paths are files and folders, as the agent knows them, to which it is limited; empty is all.
	Paths []string
	// Force also takes back what was changed again since.
	Force bool
	// Dry only says what would be done.
	Dry bool
	// ID names the undo, by which it can be undone itself.
	ID string
	// to has all be taken back that was changed since a moment, instead of what Run has.
	to *Moment
	// Idle is asked before anything is changed: its error is the answer. nil is always idle.
	Idle func(ctx context.Context) error
}

// Named is a path, and what is to be said of it.
type Named struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Undone is what became of an [Undo].
type Undone struct {
	// ID names the undo; empty if nothing was done.
	ID string `json:"undo_id"`
	// Done says that it was done, or that there was nothing left to do.
	Done bool `json:"done"`
	// Restored are the paths that have their earlier content, mode or target back, and Removed those that are gone
	// again.
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"`
	// Conflicts were changed again since. Without Force they keep the whole undo from being done.
	Conflicts []Named `json:"conflicts"`
	// NotRestorable are left as they are, as no copy of what they were was kept.
	NotRestorable []Named `json:"not_restorable"`
	// Left are folders that the run has made and that are not empty.
	Left []Named `json:"left"`
}

// Undo takes back what a run has changed: bytes, names, modes and links. It is done or not, also after a crash: then
// the next one to use the thread's files does it.
func (t *Thread) Undo(ctx context.Context, u Undo) (out Undone, err error) {
	out = nothing()
	if !id.IsName(u.Run, maxRunID) || u.Run == between {
		return out, nil
	}
	err = t.read(ctx, func(s *session) error {
		if u.Idle != nil {
			if err := u.Idle(ctx); err != nil {
				return err
			}
		}
		out, err = s.undo(u)
		return err
	})
	return out, err
}

// nothing is the undo of a run that nothing is known of.
func nothing() Undone {
	return Undone{Done: true, Restored: []string{}, Removed: []string{}, Conflicts: []Named{}, NotRestorable: []Named{},
		Left: []Named{}}
}

func (s *session) undo(u Undo) (Undone, error) {
	if err := s.look(Origin{}); err != nil { // so that what is overwritten is kept
		return Undone{}, err
	}
	list, _, err := s.net(u.Run)
	if u.to != nil {
		list, err = s.since(*u.to)
	}
	if err != nil {
		return Undone{}, err
	}
	if list, err = within(list, u.Paths); err != nil {
		return Undone{}, err
	}
	p := &plan{s: s, force: u.Force, wants: make(map[string]Entry), out: nothing()}
	for _, c := range list {
		p.add(c)
	}
	p.settle()
	if p.out.Done = u.Force || len(p.out.Conflicts) == 0; !p.out.Done || u.Dry || len(p.steps) == 0 {
		p.out.Done = p.out.Done && !u.Dry
		return p.out, nil
	}
	p.out.ID = u.ID
	return p.out, s.carryOut(journal{ID: u.ID, Undoes: u.Run, Steps: p.steps})
}

// within are the changes of some paths and of what lies below them.
func within(list []Change, paths []string) ([]Change, error) {
	if len(paths) == 0 {
		return list, nil
	}
	var wanted []string
	for _, v := range paths {
		p, err := below(v)
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", v, err)
		}
		wanted = append(wanted, p)
	}
	return slices.DeleteFunc(list, func(c Change) bool {
		return !slices.ContainsFunc(wanted,
			func(p string) bool { return c.Path() == p || strings.HasPrefix(c.Path(), p+"/") })
	}), nil
}

// plan is what an undo is going to do.
type plan struct {
	s     *session
	force bool
	wants map[string]Entry // by path; the zero Entry is nothing
	steps []Change         // from what is there to what is wanted
	out   Undone
}

// add plans to take one change back, or says why not.
func (p *plan) add(c Change) {
	at, now := c.Path(), p.s.state.tree[c.Path()]
	if same(now, c.Before) {
		return
	}
	if !same(now, c.After) {
		p.out.Conflicts = append(p.out.Conflicts, Named{c.Virtual(), "it was changed again later"})
		if !p.force {
			return
		}
	}
	o := &objects{root: p.s.dir}
	switch want := c.Before; {
	case want.Kind == Special:
		p.out.NotRestorable = append(p.out.NotRestorable, Named{c.Virtual(), "it was a FIFO, a socket or a device"})
	case want.Kind == File && (now.Kind != File || !alike(now, want)) && !o.whole(want):
		p.out.NotRestorable = append(p.out.NotRestorable, Named{c.Virtual(), p.why(want)})
	default:
		p.wants[at] = want
	}
}

// why there is no copy of a file.
func (p *plan) why(e Entry) string {
	if most := p.s.t.h.cfg.Bounds.File; e.Size > most {
		return fmt.Sprintf("it had %d bytes, and files of more than %d are not kept", e.Size, most)
	}
	return ErrNotKept.Error()
}

// settle makes the steps of what is wanted, and keeps folders in order: what something is put into is a folder that may
// be written to, and what is removed is empty.
func (p *plan) settle() {
	tree := p.s.state.tree
	after := func(at string) Entry {
		if want, ok := p.wants[at]; ok {
			return want
		}
		return tree[at]
	}
	filled := make(map[string]bool) // folders that will have something in them
	for at := range tree {
		if after(at).Kind != 0 {
			fill(filled, at)
		}
	}
	for at, want := range p.wants {
		if want.Kind != 0 {
			fill(filled, at)
		}
	}
	for _, at := range slices.Backward(sortedKeys(p.wants)) {
		want := p.wants[at]
		switch {
		case tree[at].Kind != Dir || want.Kind == Dir || !filled[at] && !notFollowed(lastOf(at)):
			continue
		case want.Kind == 0:
			p.out.Left = append(p.out.Left, Named{virtual(at), "the folder is not empty"})
		default:
			p.out.Conflicts = append(p.out.Conflicts, Named{virtual(at), "it is a folder now that is not empty"})
		}
		delete(p.wants, at)
		fill(filled, at)
	}
	for _, at := range sortedKeys(p.wants) {
		if dir := folderOf(at); inside(dir) && p.wants[at].Kind != 0 {
			if e := after(dir); e.Kind != Dir && e.Kind != 0 {
				p.out.Conflicts = append(p.out.Conflicts, Named{virtual(at), "what it was in is no folder any more"})
				delete(p.wants, at)
			}
		}
	}
	for _, at := range sortedKeys(p.wants) { // a folder that is closed is opened meanwhile, and closed again
		dir := folderOf(at)
		if _, planned := p.wants[dir]; !planned && tree[dir].Kind == Dir && tree[dir].Mode&0o700 != 0o700 {
			p.wants[dir] = tree[dir]
		}
	}
	for _, at := range sortedKeys(p.wants) {
		want, now := p.wants[at], tree[at]
		step := Change{now, want}
		p.steps = append(p.steps, step)
		switch {
		case want.Kind == 0:
			p.out.Removed = append(p.out.Removed, step.Virtual())
		case !same(want, now):
			p.out.Restored = append(p.out.Restored, step.Virtual())
		}
	}
}

func fill(filled map[string]bool, at string) {
	for dir := folderOf(at); inside(dir) && !filled[dir]; dir = folderOf(dir) {
		filled[dir] = true
	}
}

func lastOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func sortedKeys(m map[string]Entry) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// journal is an undo that is being done: what the paths were, and what they are to be.
type journal struct {
	ID     string   `json:"id"`
	Undoes string   `json:"undoes"`
	Steps  []Change `json:"steps"`
}

// carryOut does an undo, whatever comes in between: from when the journal is there it will be done.
func (s *session) carryOut(j journal) error {
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := writeSynced(s.dir, undoName, raw); err != nil {
		return fmt.Errorf("note what is going to be undone: %w", err)
	}
	return s.finishUndo()
}

// finishUndo does the undo that the journal tells of, if there is one. What cannot be done is taken back.
func (s *session) finishUndo() error {
	raw, err := s.dir.ReadFile(undoName)
	if err != nil {
		return ignoreMissing(err)
	}
	var j journal
	if err := json.Unmarshal(raw, &j); err != nil || !id.IsName(j.ID, maxRunID) {
		return errors.Join(errors.New("the journal of an undo cannot be read, and was put aside"),
			s.dir.Rename(undoName, undoName+".bad"))
	}
	failed := s.apply(j.Steps)
	if failed != nil {
		back := make([]Change, len(j.Steps))
		for i, c := range j.Steps {
			back[i] = Change{c.After, c.Before}
		}
		failed = fmt.Errorf("the undo could not be done, and was taken back: %w", errors.Join(failed, s.apply(back)))
	}
	err = s.look(Origin{Run: j.ID, By: ByUndo, Undoes: j.Undoes})
	if err == nil {
		err = s.dir.Remove(undoName)
	}
	if err == nil && failed == nil {
		s.t.h.cfg.Watch.FilesRestored(len(j.Steps))
	}
	return errors.Join(failed, err)
}

// Recover does an undo that was cut off. It costs a look for a file where there is none.
func (t *Thread) Recover(ctx context.Context) error {
	if !Unfinished(t.place.Folder) {
		return nil
	}
	return t.with(ctx, func(*session) error { return nil })
}

// writeSynced writes a file that is there whole, and on disk, or not at all.
func writeSynced(dir *os.Root, name string, data []byte) error {
	f, err := dir.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(name+".part", name)
	}
	if err == nil {
		err = syncDir(dir)
	}
	return err
}

func syncDir(dir *os.Root) error {
	h, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Sync()
}

// Unfinished reports whether an undo of a thread's files was cut off.
func Unfinished(f userdata.Folder) bool {
	root, err := f.Root(false)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(userdata.History + "/" + undoName)
	return err == nil
}
