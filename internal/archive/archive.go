// Package archive writes everything that Pudu keeps into one file, and reads it back: the backup. The command line
// calls it with an open store and the data folder.
//
// An archive is a tar file in gzip. In this order it holds
//
//	pudu-backup.json        {"format":"pudu-backup","version":2,"created_at":...}
//	dump/00000001.jsonl ... the records of store.Keeper's dump, cut anywhere between two records
//	users/...               the files of all threads, without their holes; sparse.go says how these come back
//	summary.json            how much there was of everything; an archive without it is cut off
//
// The records come first and show one moment; a file is as new as they are, or newer. Whoever reads an archive may have
// got it from anywhere: names that lead out of the data folder, links that do, special files and more bytes than fit
// are refused or left out, and whatever is wrong, nothing of the archive stays.
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
)

const (
	format  = "pudu-backup"
	version = 2 // 1 has no pieces of files

	headName    = "pudu-backup.json"
	dumpFolder  = "dump/"
	summaryName = "summary.json"

	maxNote    = 64 << 10 // bytes of the head and of the summary
	maxName    = 4096     // bytes of a path
	maxEntries = 10_000_000
)

// head is the first entry.
type head struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
}

// Summary says what an archive holds. Of Skipped and Changed it holds only the counts.
type Summary struct {
	store.Holding

	Files, Folders, Links int64
	Bytes                 int64 // of the files
	// Changed counts files that changed while they were read: what is in the archive may be of no one moment.
	Changed int64
	// Skipped counts what is left out: what could not be read, special files, and on reading links that lead out of the
	// thread's folder.
	Skipped int64
}

// encode writes a note of the archive. Its types can always be encoded.
func encode(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	return append(raw, '\n'), err
}

func pieceName(n int) string { return fmt.Sprintf("%s%08d.jsonl", dumpFolder, n) }

var errName = errors.New("the name leads out of the data folder, or is none of a backup")

// checkName returns the clean form of an entry's name below [userdata.Root].
func checkName(name string) (string, error) {
	clean := strings.TrimSuffix(name, "/")
	switch {
	case len(clean) > maxName, strings.ContainsAny(clean, "\x00\\"), path.Clean(clean) != clean,
		!filepath.IsLocal(filepath.FromSlash(clean)), clean != userdata.Root &&
			!strings.HasPrefix(clean, userdata.Root+"/"):
		return "", errName
	}
	return clean, nil
}

// linkStays reports whether a symbolic link is one that an agent can have made in its folders, and stays in the one
// that it is in.
func linkStays(name, target string) bool {
	folder, ok := userdata.MountOf(name)
	if !ok || path.IsAbs(target) || target == "" || len(target) > maxName {
		return false
	}
	to := path.Join(path.Dir(name), target)
	return to == folder || strings.HasPrefix(to, folder+"/")
}
