package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// TestTheLogIsCutOff: after each kill the disk loses the end of SQLite's write-ahead log, as one does that lies about
// what it has synced. Steps that were acknowledged may be gone, so their effects happen again and readers have seen
// what no longer is. But the store opens, or says what is wrong with it, and the run comes to an end like the
// undisturbed one.
func TestTheLogIsCutOff(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), NoShell: true})
	rnd := rand.New(rand.NewPCG(c.seed, 1))
	var sum tally
	cuts, damaged := 0, 0
	const least = 10
	for i := 0; i < 3 || cuts < least && i < 12; i++ { // a run has some three cuts, more or fewer by the seed
		s := newSite(c.orderIn(fmt.Sprint("run-", i)))
		ended := false
		for range mostAttempts {
			// Late enough that a cut leaves more than the claim: attempts that get nowhere would end the run.
			a, err := s.try(t.Context(),
				kill{markCommit, 14 + rnd.IntN(12), time.Duration(rnd.IntN(3000)) * time.Microsecond})
			if err != nil && strings.Contains(err.Error(), store.ErrCorrupt.Error()) {
				damaged++
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.ended {
				ended = true
				break
			}
			if cutLog(t, rnd, s.order.Dir) {
				cuts++
			}
		}
		if !ended {
			continue
		}
		got, err := s.end(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var kept, happened verdict
		unknown := unknownCalls(got.state)
		kept.checkState(got, c.want, unknown, false)
		kept.checkLog(got, wayAnswer)
		for _, w := range append(kept.wrong, got.faults...) {
			t.Error(w)
		}
		if got.run.Error != "" {
			t.Errorf("the run ended as %s: %s", got.run.Status, got.run.Error)
		}
		happened.checkEffects(got, c.want, unknown)
		if happened.lost > 0 {
			t.Errorf("%q", happened.wrong)
		}
		happened.finished, happened.runs = 1, 1
		sum.add(happened.tally)
	}
	t.Logf("%d cuts: %d runs came to their end, %d stores named their damage; %d effects: %d once, %d unknown, %d more than once",
		cuts, sum.finished, damaged, sum.effects, sum.once, sum.unknown, sum.duplicated)
	if cuts < least {
		t.Error("that is too few")
	}
}

// cutLog takes up to a few commits off the end of the log, or now and then anything.
func cutLog(t *testing.T, rnd *rand.Rand, dir string) bool {
	t.Helper()
	path := filepath.Join(dir, "data", "pudu.db-wal")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	most := min(info.Size(), 100_000)
	if rnd.IntN(10) == 0 {
		most = info.Size()
	}
	if err := os.Truncate(path, info.Size()-1-rnd.Int64N(most)); err != nil {
		t.Fatal(err)
	}
	return true
}
