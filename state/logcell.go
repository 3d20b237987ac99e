package state

import (
	"fmt"
	"slices"
	"sync"
)

// logCell is the cell of a LogChannel. entries and vals run in parallel. Cells that follow from each other by
// appending share these arrays and a spine, which tells how much is taken, so that only one successor grows in place.
type logCell[T any] struct {
	entries []*entry[T]
	vals    []T

	lazy *lazyLog[T] // nil when entries and vals were there from the start
	once sync.Once
	err  error

	spineOnce sync.Once
	spine     *spine // nil before the first write
}

// lazyLog is a log that is not decoded yet: items, or what another cell has, and the writes to be made on them.
type lazyLog[T any] struct {
	ch     *LogChannel[T]
	items  [][]byte
	base   *logCell[T] // nil: items
	writes []storedWrite
}

func (l *logCell[T]) get() ([]T, error) {
	l.once.Do(func() {
		if l.lazy == nil {
			return
		}
		made, err := l.lazy.decode()
		if err != nil {
			l.err = err
			return
		}
		l.entries, l.vals, l.spine = made.entries, made.vals, made.spine
		l.lazy.base, l.lazy.writes = nil, nil
	})
	// Without room at the end: a caller's append must not write into the array that other states share.
	return slices.Clip(l.vals), l.err
}

func (z *lazyLog[T]) decode() (*logCell[T], error) {
	made := z.base
	if made == nil {
		entries, err := decodeEntries(z.items, z.ch.id)
		if err != nil {
			return nil, err
		}
		made = &logCell[T]{entries: entries, vals: make([]T, len(entries))}
		for i, e := range entries {
			made.vals[i] = e.val
		}
	}
	after, err := replayNow(z.ch, made, z.writes)
	if err != nil {
		return nil, err
	}
	return after.(*logCell[T]), nil //nolint:forcetypeassert // a log stays a log
}

func (l *logCell[T]) check() error {
	_, err := l.get()
	return err
}

func (l *logCell[T]) encode() (encoded, error) {
	if l.lazy != nil && l.lazy.items != nil {
		return encoded{items: l.lazy.items}, nil
	}
	if _, err := l.get(); err != nil {
		return encoded{}, err
	}
	items := make([][]byte, len(l.entries))
	for i, e := range l.entries {
		raw, err := e.enc.bytes()
		if err != nil {
			return encoded{}, err
		}
		items[i] = raw
	}
	return encoded{items: items}, nil
}

// index returns the cell's spine, making it for the first write.
func (l *logCell[T]) index() *spine {
	l.spineOnce.Do(func() {
		if l.spine == nil {
			l.spine = newSpine(l.entries)
		}
	})
	return l.spine
}

// merge adds the items, or puts each in the place of the one with its id.
func (l *logCell[T]) merge(name string, items entryList[T], mayAdd bool) (cell, error) {
	next := &logCell[T]{entries: l.entries, vals: l.vals, spine: l.index()}
	fresh := make(entryList[T], 0, len(items))
	var at map[string]int // index into fresh
	if len(items) > 1 {
		at = make(map[string]int, len(items))
	}
	for _, e := range items {
		if i := next.spine.find(e.id, len(l.entries)); i >= 0 {
			next.set(l, i, e)
			continue
		}
		if i, ok := at[e.id]; ok {
			fresh[i] = e
			continue
		}
		if !mayAdd {
			return nil, fmt.Errorf("channel %q: replace %q: %w", name, e.id, ErrNoItem)
		}
		if at != nil {
			at[e.id] = len(fresh)
		}
		fresh = append(fresh, e)
	}
	next.grow(fresh)
	return next, nil
}

// set replaces item i, copying the arrays first if they are still those of from. The spine fits the copy too.
func (l *logCell[T]) set(from *logCell[T], i int, e *entry[T]) {
	if &l.entries[0] == &from.entries[0] {
		l.entries, l.vals = slices.Clone(l.entries), slices.Clone(l.vals)
	}
	l.entries[i], l.vals[i] = e, e.val
}

// grow appends, in place when no other successor has taken the room behind the last item.
func (l *logCell[T]) grow(items entryList[T]) {
	if len(items) == 0 {
		return
	}
	if !take(l.spine, len(l.entries), items) {
		l.spine = newSpine(l.entries)
		take(l.spine, len(l.entries), items)
		l.entries, l.vals = slices.Clip(l.entries), slices.Clip(l.vals)
	}
	for _, e := range items {
		l.entries = append(l.entries, e)
		l.vals = append(l.vals, e.val)
	}
}

func (l *logCell[T]) remove(name string, ids []string) (cell, error) {
	drop := make(map[int]bool, len(ids))
	for _, id := range ids {
		i := l.index().find(id, len(l.entries))
		if i < 0 || drop[i] {
			return nil, fmt.Errorf("channel %q: remove %q: %w", name, id, ErrNoItem)
		}
		drop[i] = true
	}
	next := &logCell[T]{}
	for i, e := range l.entries {
		if !drop[i] {
			next.entries = append(next.entries, e)
			next.vals = append(next.vals, e.val)
		}
	}
	return next, nil
}

// spine is what the cells of one line of successors share. All of them have the same ids at the same places, as far
// as each of them reaches. n is the length of the longest; a shorter cell must branch off with a spine of its own.
type spine struct {
	mu sync.Mutex
	n  int
	at map[string]int // place by id, the last of equal ids
}

func newSpine[T any](entries []*entry[T]) *spine {
	s := &spine{n: len(entries), at: make(map[string]int, len(entries))}
	for i, e := range entries {
		s.at[e.id] = i
	}
	return s
}

// find returns the place of an id among the first n, or -1.
func (s *spine) find(id string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.at[id]; ok && i < n {
		return i
	}
	return -1
}

// take claims the room behind the first n for items whose ids are new; false if another successor has it.
func take[T any](s *spine, n int, items entryList[T]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n != n {
		return false
	}
	for i, e := range items {
		s.at[e.id] = n + i
	}
	s.n += len(items)
	return true
}
