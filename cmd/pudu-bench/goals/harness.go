package goals

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// side is one way to do a piece of work. It does it once or several times and returns how long each took.
type side func(ctx context.Context) ([]time.Duration, error)

// compare lets the sides take turns, so that what slows the machine down for a while slows all of them, and returns
// the median of each in seconds. A first round warms up and does not count.
func compare(ctx context.Context, rounds int, sides ...side) ([]float64, error) {
	took := make([][]time.Duration, len(sides))
	for round := range rounds + 1 {
		for i, s := range sides {
			ds, err := s(ctx)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				took[i] = append(took[i], ds...)
			}
		}
	}
	medians := make([]float64, len(sides))
	for i, ds := range took {
		medians[i] = measure.Quantile(ds, 0.5).Seconds()
	}
	return medians, nil
}

// timed is the side that does f n times in a round.
func timed(n int, f func(ctx context.Context) error) side {
	return func(ctx context.Context) ([]time.Duration, error) {
		ds := make([]time.Duration, n)
		for i := range ds {
			start := time.Now()
			if err := f(ctx); err != nil {
				return nil, err
			}
			ds[i] = time.Since(start)
		}
		return ds, nil
	}
}

// syncFloor is the least that a durable commit can cost: 4 KB written to a file in the folder, and synced. Like the log
// of a database, the file has its room already; making room would cost more.
func syncFloor(dir string, n int) (s side, closeFile func() error, err error) {
	const pages = 256
	page := make([]byte, 4096)
	f, err := os.CreateTemp(dir, "floor-")
	if err != nil {
		return nil, nil, err
	}
	if _, err := f.Write(make([]byte, pages*len(page))); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	next := 0
	return timed(n, func(context.Context) error {
		next = (next + 1) % pages
		if _, err := f.WriteAt(page, int64(next*len(page))); err != nil {
			return err
		}
		return f.Sync()
	}), f.Close, nil
}

// folderBytes is how much the files below a folder hold.
func folderBytes(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
