package filehistory

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// Origin says who made a change.
type Origin struct {
	// Run is the run at work; empty if none was. That of a sub-agent is the run that a person has begun.
	Run string `json:"run,omitempty"`
	// By is "tool", "upload", "edit" (a person's, of a file), "undo", or "run" if it is not known which of the run's
	// calls did it. Empty is what was found between runs, such as the work of processes that were left in the
	// background.
	By string `json:"by,omitempty"`
	// Call is the tool call and Tool its name, where one alone was at work.
	Call string `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Undoes is the run whose changes were taken back.
	Undoes string `json:"undoes,omitempty"`
}

// The values of [Origin].By.
const (
	ByTool   = "tool"
	ByUpload = "upload"
	ByEdit   = "edit"
	ByUndo   = "undo"
	ByRun    = "run"
)

// Kind is "upload", "command", "tool" or "run", as exactly as is known; empty if it was none of them.
func (o Origin) Kind() string {
	switch {
	case o.By == ByTool && o.Tool == "bash":
		return "command"
	case o.By == ByTool, o.By == ByUpload, o.By == ByRun:
		return o.By
	}
	return ""
}

// maxRunID bounds the ids of runs, which are names of files.
const maxRunID = 64

var errRun = errors.New("this is no id of a run")

// Call notes the state of the files before a call that may change them; what it returns finds out, after the call, what
// that has changed. The first call of a run finds what was changed since the last run.
func (t *Thread) Call(ctx context.Context, run, call, tool string) (done func(context.Context) error, err error) {
	if !id.IsName(run, maxRunID) || run == between {
		return nil, errRun
	}
	if err := t.with(ctx, func(s *session) error { return s.begin(run) }); err != nil {
		return nil, err
	}
	leave := t.h.enter(t.place.Name())
	return func(ctx context.Context) error {
		o := Origin{Run: run, By: ByTool, Call: call, Tool: tool}
		if !leave() {
			o.By, o.Call, o.Tool = ByRun, "", ""
		}
		return t.with(ctx, func(s *session) error { return s.look(o) })
	}, nil
}

// begin makes a run the one at work.
func (s *session) begin(run string) error {
	if s.state.Run == run && !s.state.fresh {
		return nil
	}
	o := Origin{}
	if s.state.Run != "" { // it was cut off
		o = Origin{Run: s.state.Run, By: ByRun}
	}
	if err := s.look(o); err != nil {
		return err
	}
	s.state.Run = run
	return s.save()
}

// Finish notes what a run's background processes have changed since its last call, and that it is at work no more. A
// run that has made no call that may write has nothing to finish.
func (t *Thread) Finish(ctx context.Context, run string) error {
	return t.read(ctx, func(s *session) error {
		if s.state.Run != run || run == "" {
			return nil
		}
		if err := s.look(Origin{Run: run, By: ByRun}); err != nil {
			return err
		}
		s.state.Run, s.state.Full = "", false
		if err := errors.Join(s.trimLogs(), s.trim(s.limits())); err != nil {
			return err
		}
		return s.save()
	})
}

// Note notes what somebody has done to some files, by their virtual paths.
func (t *Thread) Note(ctx context.Context, by string, paths ...string) error {
	return t.with(ctx, func(s *session) error {
		if s.state.fresh { // what else is there was there before
			if err := s.look(Origin{}); err != nil {
				return err
			}
			for _, v := range paths {
				if p, err := below(v); err == nil {
					s.state.drop(p)
				}
			}
		}
		return s.note(Origin{By: by}, paths)
	})
}

// look finds what has changed since the last look, and writes it into the log. The first one finds what is there.
func (s *session) look(o Origin) error {
	was, fresh := make(tree), s.state.fresh
	copies, err := s.scan(was)
	if err != nil {
		return err
	}
	if copies.full && !s.state.Full {
		if copies, err = s.again(copies, was); err != nil {
			return err
		}
	}
	var changes []Change
	if !fresh {
		changes = differ(was, s.state.tree)
	}
	moved := copies.bytes != s.state.Bytes || copies.count != s.state.Count
	s.state.Bytes, s.state.Count, s.state.fresh = copies.bytes, copies.count, false
	return s.wrote(o, changes, fresh || moved)
}

// scan looks at all files. What is not what it was goes into was, unless that has the path already.
func (s *session) scan(was tree) (*objects, error) {
	copies := &objects{root: s.dir, bytes: s.state.Bytes, count: s.state.Count, most: s.limits(),
		watch: s.t.h.cfg.Watch}
	at := s.t.h.cfg.Now().UnixNano()
	look := scan{ctx: s.ctx, before: s.state.tree, at: s.state.At, copies: copies}
	files, err := s.files()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		look.missing(&walk{})
	case err != nil:
		return nil, err
	default:
		err = look.look(files)
		files.Close()
		if err != nil {
			return nil, err
		}
	}
	s.put(look.found, was)
	s.state.At = at
	return copies, nil
}

// put brings the state up to what was found. What a path was before goes into was, unless that has it already.
func (s *session) put(found []Change, was tree) {
	for _, c := range found {
		p := c.Path()
		if _, ok := was[p]; !ok {
			was[p] = c.Before
		}
		s.state.drop(p)
		if c.After.Kind != 0 {
			s.state.tree[p] = c.After
		}
	}
}

// again makes room for copies and takes those that had none.
func (s *session) again(copies *objects, was tree) (*objects, error) {
	s.state.Bytes, s.state.Count = copies.bytes, copies.count
	had := s.state.Count
	if err := s.trim(s.limits()); err != nil {
		return nil, err
	}
	if s.state.Count == had {
		s.state.Full = true
		return copies, nil
	}
	var without []Change
	for _, e := range s.state.tree {
		if e.Kind == File && !e.Kept && e.Sum != "" {
			unread := e
			unread.inode = math.MaxUint64 // so that it is read again
			without = append(without, Change{e, unread})
		}
	}
	s.put(without, was)
	return s.scan(was)
}

// files opens the folder of the thread's files. A sandbox may have locked a folder of it.
func (s *session) files() (*os.Root, error) {
	for _, m := range s.t.place.Mounts() {
		m.Mend()
	}
	return s.root.OpenRoot(userdata.Data)
}

// limits are the bounds of the copies: with the files they stay within the thread's quota.
func (s *session) limits() Bounds {
	b := s.t.h.cfg.Bounds
	left := s.t.h.cfg.Quota
	for _, e := range s.state.tree {
		left -= e.Size
	}
	b.Bytes = max(min(b.Bytes, left), 0)
	return b
}

// note looks at some files.
func (s *session) note(o Origin, paths []string) error {
	files, err := s.files()
	if err != nil {
		return ignoreMissing(err)
	}
	defer files.Close()
	copies := &objects{root: s.dir, bytes: s.state.Bytes, count: s.state.Count, most: s.limits(),
		watch: s.t.h.cfg.Watch}
	look, was := scan{ctx: s.ctx, before: s.state.tree, copies: copies}, make(tree)
	for _, v := range paths {
		p, err := below(v)
		if err != nil {
			return err
		}
		for f := folderOf(p); inside(f); f = folderOf(f) { // folders that were made on the way
			if info, err := files.Lstat(f); err == nil && s.state.tree[f].Kind != Dir {
				_ = look.entry(files, f, entryOf(info, f))
			}
		}
		if info, err := files.Lstat(p); err == nil {
			if err := look.entry(files, p, entryOf(info, p)); err != nil {
				return err
			}
		} else if old := s.state.tree[p]; old.Kind != 0 {
			look.found = append(look.found, Change{Before: old})
		}
		s.put(look.found, was)
		look.found = nil
	}
	s.state.Bytes, s.state.Count = copies.bytes, copies.count
	return s.wrote(o, differ(was, s.state.tree), true)
}

// wrote writes changes into the log, and the state.
func (s *session) wrote(o Origin, changes []Change, save bool) error {
	if len(changes) > 0 {
		s.state.Seq++
		b := Batch{Seq: s.state.Seq, At: s.t.h.cfg.Now().UnixMilli(), Origin: o, Changes: changes}
		if err := s.add(b); err != nil {
			return err
		}
		save = true
	}
	if save {
		return s.save()
	}
	return nil
}

// below is a virtual path below the folder of all files.
func below(path string) (string, error) {
	clean, err := sandbox.CleanPath(path)
	if err != nil {
		return "", err
	}
	const top = sandbox.UserData + "/"
	if len(clean) <= len(top) || clean[:len(top)] != top || !isFolder(firstOf(clean[len(top):])) {
		return "", sandbox.ErrOutside
	}
	return clean[len(top):], nil
}

func sortBatches(list []Batch) {
	slices.SortStableFunc(list, func(a, b Batch) int { return cmp.Compare(a.Seq, b.Seq) })
}

func sortChanges(list []Change) {
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Path(), b.Path()) })
}

// trim removes copies until they are within their bounds: first those that nothing names, then those that were named
// longest ago. What the files are now is removed last of all, and only with the files.
func (s *session) trim(most Bounds) error {
	if s.state.Bytes <= most.Bytes*9/10 && s.state.Count <= most.Files*9/10 {
		return nil
	}
	last, err := s.named()
	if err != nil {
		return err
	}
	o := &objects{root: s.dir}
	list, err := o.list()
	if err != nil {
		return err
	}
	s.state.Bytes, s.state.Count = 0, len(list)
	for i := range list {
		list[i].last = last[list[i].name]
		s.state.Bytes += list[i].size
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(a.last, b.last) })
	for _, c := range list {
		over := s.state.Bytes > most.Bytes*9/10 || s.state.Count > most.Files*9/10
		if c.last == math.MaxInt64 || c.last > 0 && !over {
			break
		}
		if err := ignoreMissing(s.dir.Remove(c.name)); err != nil {
			return err
		}
		s.state.Bytes -= c.size
		s.state.Count--
	}
	return nil
}

// named is the number of the last batch that names a copy; that of the present files is the largest there is.
func (s *session) named() (map[string]int64, error) {
	last := make(map[string]int64)
	list, err := s.all()
	if err != nil {
		return nil, err
	}
	put := func(e Entry, seq int64) {
		if e.Sum != "" {
			last[objectName(e.Sum)] = max(last[objectName(e.Sum)], seq)
		}
	}
	for _, b := range list {
		for _, c := range b.Changes {
			put(c.Before, b.Seq)
			put(c.After, b.Seq)
		}
	}
	for _, e := range s.state.tree {
		put(e, math.MaxInt64)
	}
	return last, nil
}

// trimLogs removes the logs of the oldest runs when there are too many, or too much in them.
func (s *session) trimLogs() error {
	names, err := s.logs()
	if err != nil {
		return err
	}
	type file struct {
		name       string
		size, time int64
	}
	var list []file
	for _, name := range names {
		if info, err := s.dir.Lstat(name); err == nil {
			list = append(list, file{name, info.Size(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(b.time, a.time) })
	var size int64
	for i, f := range list {
		if size += f.size; i >= maxLogRuns || size > maxLogs {
			if err := ignoreMissing(s.dir.Remove(f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}
