package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// watch notices that SQLite's files are not the ones that were opened: deleted, moved, replaced or cut off. SQLite
// works on with files that have lost their names, and nothing of what it writes to them is there after a restart. From
// then on the store refuses all work with [store.ErrLost] and writes nothing, so that what is left of the files stays
// as it is.
//
// The names are looked at before and after each transaction, and all of it every [watchEvery].
type watch struct {
	path string
	file *os.File // the database, by a handle of its own
	// save is called once, when the files are lost.
	save func(lost error)

	mu    sync.Mutex // guards what follows
	db    fs.FileInfo
	logs  [2]fs.FileInfo // of the write-ahead log and its index; nil until they are there
	size  int64
	mark  uint32 // of a Pudu database; 0 as long as a new one's stands in the log
	count uint32 // of its changes

	lost  atomic.Pointer[error]
	stop  chan struct{}
	ended sync.WaitGroup
}

// watchEvery is how often the files are looked at while nothing is written. A loss is noticed within a second.
const watchEvery = 500 * time.Millisecond

// newWatch is for a database that was just opened.
func newWatch(path string) (*watch, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	w := &watch{path: path, file: f, stop: make(chan struct{})}
	if w.db, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if why := w.check(); why != "" {
		return nil, errors.Join(fmt.Errorf("%w: %s %s", store.ErrLost, path, why), f.Close())
	}
	return w, nil
}

// start begins to look.
func (w *watch) start(save func(lost error)) {
	w.save = save
	w.ended.Go(w.keepLooking)
}

func (w *watch) keepLooking() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			if w.look() != nil {
				return
			}
		}
	}
}

// end looks a last time by itself, and waits for what is being saved.
func (w *watch) end() {
	if w == nil {
		return
	}
	close(w.stop)
	_ = w.look() // close tells
	w.ended.Wait()
}

// close lets go of the file, and tells the loss if there was one.
func (w *watch) close() error {
	w.ended.Wait()
	return errors.Join(w.err(), w.file.Close())
}

// err is the loss, if there was one.
func (w *watch) err() error {
	if w == nil {
		return nil
	}
	if lost := w.lost.Load(); lost != nil {
		return *lost
	}
	return nil
}

// names looks at the names and the size alone, which costs a few microseconds, and at the rest if they are not as
// before.
func (w *watch) names() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	size, why := w.named()
	same := why == "" && size >= w.size
	w.mu.Unlock()
	if same {
		return w.err()
	}
	return w.look()
}

// look looks at everything, and says once what was found.
func (w *watch) look() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.err(); err != nil {
		return err
	}
	why := w.check()
	if why != "" { // it may have been read while SQLite wrote it
		time.Sleep(20 * time.Millisecond)
		why = w.check()
	}
	if why == "" {
		return nil
	}
	lost := fmt.Errorf("%w: %s %s", store.ErrLost, w.path, why)
	w.lost.Store(&lost)
	w.ended.Go(func() { w.save(lost) })
	return lost
}

// check says what is wrong with the files.
func (w *watch) check() string {
	size, why := w.named()
	if why != "" {
		return why
	}
	var head [100]byte
	if n, err := w.file.ReadAt(head[:], 0); n < len(head) && !errors.Is(err, io.EOF) {
		return "" // such as a failing disk, which whoever reads more hears of
	}
	why = w.content(head[:], size)
	if why == "" {
		w.size = size
	}
	return why
}

// named returns the database's size, and says what is wrong with the names.
func (w *watch) named() (size int64, why string) {
	now, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, "was deleted or moved"
	case err != nil:
		return w.size, "" // such as a lack of descriptors, which says nothing
	case !os.SameFile(now, w.db):
		return 0, "was replaced by another file"
	}
	for i, suffix := range [...]string{"-wal", "-shm"} {
		is, err := os.Stat(w.path + suffix)
		was := w.logs[i]
		switch {
		case err == nil && was == nil:
			w.logs[i] = is
		case was != nil && (errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(is, was)):
			return 0, "has lost its " + filepath.Base(w.path) + suffix
		}
	}
	return now.Size(), ""
}

// content says what is wrong with the head of the database, whose format SQLite documents.
func (w *watch) content(head []byte, size int64) string {
	const magic = "SQLite format 3\x00"
	count, pages, mark := binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:]),
		binary.BigEndian.Uint32(head[68:])
	switch {
	case size < w.size && size < int64(pages)*pageSize: // SQLite changes the head before the length
		return "was cut off"
	case string(head[:len(magic)]) != magic, mark != w.mark && mark != applicationID:
		return "was overwritten"
	case int32(count-w.count) < 0 && w.count != 0: // SQLite only counts up
		return "was overwritten with another database"
	}
	w.mark, w.count = mark, count
	return ""
}
