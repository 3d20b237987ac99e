package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// shownProblems bounds how many problems of the store the doctor prints.
const shownProblems = 20

// inspection checks what is stored and reports to the doctor.
type inspection struct {
	disk             userdata.Disk
	report           func(cli.Check)
	threads, files   int
	damages, remarks int
}

// checkStore reads everything that is stored. It reports damage as failures, and what costs nothing but time, or may be
// the agent's own doing, as warnings.
func (a App) checkStore(ctx context.Context, cfg *config.Config, st store.Store, dir string, report func(cli.Check)) {
	i := &inspection{disk: userdata.New(dir), report: report}
	schema, err := lead.Schema(cfg, a.Middlewares...)
	if err == nil {
		err = st.System().Verify(ctx, schema, store.Visitor{Problem: i.problem, Head: i.head})
	}
	if err != nil {
		report(failed("store", err, "restore a backup into another folder (pudu restore --data DIR FILE), or check "+
			"the disk"))
		return
	}
	if more := i.damages + i.remarks - shownProblems; more > 0 {
		report(cli.Check{Name: "store", OK: i.damages == 0, Warning: i.damages == 0,
			Detail: fmt.Sprintf("and %d more", more)})
	}
	if i.damages == 0 {
		report(cli.Check{
			Name: "store", OK: true,
			Detail: fmt.Sprintf("%s replayed, with %s that they name", cli.Count(i.threads, "thread"),
				cli.Count(i.files, "file")),
		})
	}
}

// problem takes a fault of the database.
func (i *inspection) problem(p store.Problem) {
	var where []string
	if p.ThreadID != "" {
		where = append(where, "thread "+p.ThreadID)
	}
	if p.Row != "" {
		where = append(where, "row "+p.Row)
	}
	c := cli.Check{
		Name: "store", OK: p.Slow, Warning: p.Slow, Detail: strings.Join(append(where, p.Text), ": "),
		Remedy: "restore a backup into another folder: pudu restore --data DIR FILE",
	}
	if p.ThreadID != "" {
		c.Remedy += "; other threads can be used; without the thread: pudu threads delete " + p.ThreadID
	}
	if p.Slow {
		c.Remedy = "nothing to do: it is made anew when the thread goes on"
	}
	i.tell(c)
}

func (i *inspection) tell(c cli.Check) {
	if c.OK {
		i.remarks++
	} else {
		i.damages++
	}
	if i.damages+i.remarks <= shownProblems {
		i.report(c)
	}
}

// head looks for the files that a thread's state names.
func (i *inspection) head(t store.Thread, st state.State) error {
	i.threads++
	names := namedFiles(st)
	place, err := i.disk.Of(t)
	if len(names) == 0 || err != nil {
		return nil // it can have no folder
	}
	files, err := place.Open(true)
	if err != nil {
		return err
	}
	if files != nil {
		defer files.Close()
	}
	for _, name := range names {
		if i.missing(files, name) {
			i.tell(cli.Check{
				Name: "store", OK: true, Warning: true, Detail: fmt.Sprintf("thread %s: the file %s is not there", t.ID,
					name), Remedy: "the agent may have removed it; if not, a backup has it",
			})
			continue
		}
		i.files++
	}
	return nil
}

func (i *inspection) missing(files *sandbox.Files, name string) bool {
	if files == nil {
		return true
	}
	_, err := files.Stat(name)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, sandbox.ErrOutside)
}

// namedFiles are the files in the thread's own folders that its state tells of: what was uploaded, presented and looked
// at.
func namedFiles(st state.State) []string {
	names := make(map[string]bool)
	for _, name := range threadstate.Artifacts.Get(st) {
		names[name] = true
	}
	for name := range threadstate.ViewedImages.Get(st) {
		names[name] = true
	}
	for _, m := range agent.Messages.Get(st) {
		for _, name := range uploadsOf(m) {
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		clean, err := sandbox.CleanPath(name)
		return err != nil || !strings.HasPrefix(clean, sandbox.UserData+"/") // a mount, which comes and goes
	})
	return slices.Sorted(maps.Keys(names))
}

// uploadsOf are the paths in a human message's additional_kwargs.files. What clients wrote there otherwise is no file
// of ours.
func uploadsOf(m message.Message) (names []string) {
	var files []struct {
		Path string `json:"path"`
	}
	if raw := m.Kwargs["files"]; m.Role != message.Human || len(raw) == 0 || json.Unmarshal(raw, &files) != nil {
		return nil
	}
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names
}
