package app

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// newIndexer makes what keeps the index of the search: of threads in a store, whose files are on a disk.
func newIndexer(st database.Store, disk userdata.Disk, schema state.Schema) *search.Indexer {
	content := func(ctx context.Context, u access.User, id string) (c search.Content, err error) {
		if c.Thread, err = st.For(u).Thread(ctx, id); err != nil {
			return c, err
		}
		cp, err := st.For(u).Checkpoint(ctx, schema, id, c.Thread.Head)
		if err != nil {
			return c, err
		}
		c.Messages = agent.Messages.Get(cp.State)
		c.Files, err = filesOf(ctx, disk, c.Thread)
		return c, err
	}
	return search.NewIndexer(search.Config{Store: st, Content: content})
}

// walked bounds how many entries of a folder are looked at.
const walked = 10_000

// filesOf lists the files of a thread, what people have put there and what they are given first. What tools keep for
// themselves is left out.
func filesOf(ctx context.Context, disk userdata.Disk, t store.Thread) (list []string, err error) {
	place, err := disk.Of(t)
	if err != nil { // no folder can have its id
		return nil, nil
	}
	files, err := place.Open(true)
	if err != nil || files == nil {
		return nil, err
	}
	defer files.Close()
	for _, folder := range []string{sandbox.Uploads, sandbox.Outputs, sandbox.Workspace} {
		err := files.Walk(ctx, folder, walked, func(name string, e fs.DirEntry) error {
			base := path.Base(name)
			hidden := strings.HasPrefix(base, ".") || base == "node_modules" || base == "__pycache__"
			switch {
			case e.IsDir() && hidden:
				return fs.SkipDir
			case e.Type().IsRegular() && !hidden:
				list = append(list, name)
			}
			if len(list) >= search.MaxFiles {
				return fs.SkipAll
			}
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && !errors.Is(err, sandbox.ErrTooMany) && !errors.Is(err, fs.ErrNotExist) {
			return list, err
		}
	}
	return list, nil
}
