package crash

import (
	"bufio"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"sync"
)

// dying tells workers to kill themselves right before and right after writes to the store: once at each place, such as
// "before end:c3-0", that a write of the run has.
type dying struct {
	// File holds the places at which a worker has died. Empty means never.
	File string
	// Part of Parts is the share of all places that counts, from 0.
	Part, Parts int
}

// picks reports whether the place is one of this share.
func (d dying) picks(place string) bool {
	h := fnv.New32a()
	h.Write([]byte(place))
	return int(h.Sum32()%uint32(max(d.Parts, 1))) == d.Part
}

// death kills its own process as its order says. nil never does.
type death struct {
	dying

	mu      sync.Mutex
	done    map[string]bool
	stalled int // attempts since the run got further, this one included
}

func newDeath(d dying) *death {
	if d.File == "" {
		return nil
	}
	return &death{dying: d}
}

// claimed notes how long the run has not got further. A third attempt that does not would be its last.
func (d *death) claimed(stalled int) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stalled = stalled
}

// at kills the process if one of the items is new here.
func (d *death) at(when string, items []string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stalled >= 3 {
		return
	}
	fresh := ""
	for _, item := range items {
		if place := when + " " + item; d.picks(place) && !d.known(place) {
			fresh += place + "\n"
		}
	}
	if fresh == "" || d.note(fresh) != nil {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
		select {} // until the signal is here
	}
}

// known reports whether a worker has died at the place.
func (d *death) known(place string) bool {
	if d.done == nil {
		d.done, _ = readPlaces(d.File)
	}
	return d.done[place]
}

func (d *death) note(lines string) error {
	f, err := os.OpenFile(d.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}

// readPlaces reads the file of a [death].
func readPlaces(path string) (map[string]bool, error) {
	places := make(map[string]bool)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return places, nil
	}
	if err != nil {
		return places, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		places[lines.Text()] = true
	}
	return places, lines.Err()
}
