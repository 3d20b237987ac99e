package crash

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// outage executes a run in one process, which serves. When its tools begin for the seventh time the store breaks down;
// it is mended when so many writes have failed. The run must end well all the same. Without failures to wait for the
// store comes back by itself, and nobody need have noticed.
func (c *campaign) outage(t *testing.T, o order, failures int, breakDown, mend func() error) {
	t.Helper()
	o.Serve = true
	s := newSite(o)
	broken, mended := false, false
	a, err := s.attend(t.Context(), func(a *attempt, marks <-chan mark, _ *exec.Cmd) {
		for m := range marks {
			s.note(a, m)
			switch {
			case !broken && m.what == markBegin && a.counts[markBegin] == 7:
				broken = true
				if err := breakDown(); err != nil {
					t.Error(err)
				}
			case broken && !mended && failures > 0 && a.counts[markFailed] == failures:
				mended = true
				if err := mend(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if err != nil || !a.ended || failures > 0 && !mended {
		t.Fatalf("ended %v, status %s, mended %v, error %v\n%s", a.ended, a.status, mended, err, s.logTail())
	}
	v := c.judged(t, s)
	if failures > 0 && a.counts[markAttempt] < 2 {
		t.Error("the run was not taken up again")
	}
	t.Logf("%d attempts, %d of %d outcomes unknown", a.counts[markAttempt], v.unknown, v.effects)
}

// judged reports what is wrong with a run that has ended.
func (c *campaign) judged(t *testing.T, s *site) verdict {
	t.Helper()
	got, err := s.end(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := s.judge(got, c.want)
	for _, w := range v.wrong {
		t.Error(w)
	}
	return v
}

// faulty is a layer between SQLite and its files whose disk fails while a file "broken" lies beside the database: its
// text says at what.
type faulty struct{ vfs.VFSFilename }

type faultyFile struct {
	vfs.File
	switchFile string
}

var (
	_ vfs.VFSFilename      = faulty{}
	_ vfs.FileSharedMemory = faultyFile{}
	_ vfs.FileUnwrap       = faultyFile{}
)

// faultyName is the name under which TestMain registers it.
const faultyName = "faulty"

func registerFaulty() { vfs.Register(faultyName, faulty{vfs.Find("").(vfs.VFSFilename)}) }

func (f faulty) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := f.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return faultyFile{file, filepath.Join(filepath.Dir(name.String()), "broken")}, flags, nil
}

func (f faultyFile) fails(at string) bool {
	raw, err := os.ReadFile(f.switchFile)
	return err == nil && string(raw) == at
}

func (f faultyFile) Unwrap() vfs.File { return f.File }

func (f faultyFile) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

func (f faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if f.fails("write") {
		return 0, syscall.EIO
	}
	return f.File.WriteAt(p, off)
}

func (f faultyFile) Sync(flags vfs.SyncFlag) error {
	if f.fails("sync") {
		return syscall.EIO
	}
	return f.File.Sync(flags)
}

func TestTheDiskFails(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), NoShell: true})
	for _, at := range []string{"write", "sync"} {
		t.Run(at, func(t *testing.T) {
			o := c.orderIn(at)
			o.VFS = faultyName
			broken := filepath.Join(o.Dir, "data", "broken")
			c.outage(t, o, 1, func() error { return os.WriteFile(broken, []byte(at), 0o600) },
				func() error { return os.Remove(broken) })
		})
	}
}

func TestPostgreSQLIsKilled(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c := startCampaign(t, order{Dir: dirFor(t), URL: server.URL("postgres")})
	again := func() error { return errors.Join(server.Kill(), server.Restart(t.Context())) }
	c.outage(t, c.orderIn("outage"), 0, again, nil)
}
