package memory_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// mapFS is a folder with the files.
func mapFS(files map[string][]byte) fs.FS {
	dir := fstest.MapFS{}
	for name, raw := range files {
		dir[name] = &fstest.MapFile{Data: raw}
	}
	return dir
}

// load reads a dump back.
func load(f *databases.Fixture, dump string) error {
	f.Helper()
	_, err := f.Store.System().Load(f.Context(), strings.NewReader(dump), nil)
	return err
}
