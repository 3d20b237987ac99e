package store

import (
	"errors"
	"time"
)

// ErrTrashed refuses what would change a thread in the bin.
var ErrTrashed = errors.New("the thread is in the bin; restore it first")

// Marks say where a thread is shown. One without marks is in lists and searches, all others are in none that does not
// ask for them. SQL of features finds them as threads.marks, with the values below: "t.marks = 0" are the threads that
// people look through.
type Marks int

// The marks.
const (
	// Archived: put away by the user, and kept: it ends [Temporary].
	Archived Marks = 1
	// Temporary: leaves nothing behind, in a search or a memory, and goes by itself some time after its last use.
	Temporary Marks = 2
	// Trashed: in the bin, as are the hidden threads on its files. It can be looked at, restored and deleted, nothing
	// else.
	Trashed Marks = 4
	// Doomed: was in the bin when that was emptied. Nothing brings it back; it is gone in a moment.
	Doomed Marks = 8
)

// Archived reports whether the user has put the thread away.
func (t Thread) Archived() bool { return t.Marks&Archived != 0 }

// Temporary reports whether nothing of the thread may be kept elsewhere.
func (t Thread) Temporary() bool { return t.Marks&Temporary != 0 }

// Trashed reports whether the thread is in the bin.
func (t Thread) Trashed() bool { return t.Marks&Trashed != 0 }

// Shelf is where a [ThreadFilter] looks.
type Shelf string

// The shelves.
const (
	// Listed are the threads without marks; of those that [ThreadFilter].IDs names, all but the ones in the bin.
	Listed Shelf = ""
	// InArchive are those that are archived, InBin those in the bin.
	InArchive Shelf = "archive"
	InBin     Shelf = "bin"
	// Everywhere are all, wherever they are shown.
	Everywhere Shelf = "everywhere"
)

// Outlived says which threads have had their time; a zero time is none.
type Outlived struct {
	// Trashed are threads that were in the bin before this, Temporary those that nobody has used since.
	Trashed, Temporary time.Time
}

// Has reports whether the thread has had its time. A busy one has not.
func (o Outlived) Has(t Thread) bool {
	switch {
	case t.Marks&Doomed != 0:
		return true
	case t.Status == ThreadBusy:
		return false
	}
	return t.Trashed() && t.TrashedAt.Before(o.Trashed) || t.Temporary() && t.UpdatedAt.Before(o.Temporary)
}
