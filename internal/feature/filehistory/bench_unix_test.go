//go:build unix

package filehistory

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// bench measures what the history of a call costs: the look before it, and the one after it.
func bench(b *testing.B, files int, change func(k *kit, i int)) {
	k := newKit(b, Config{})
	k.fill(files, 1000)
	k.bash("first", "true")
	i, used := 0, cpu()
	for b.Loop() {
		done, err := k.Call(b.Context(), "run", "c", "bash")
		if err != nil {
			b.Fatal(err)
		}
		if change != nil {
			b.StopTimer()
			change(k, i)
			b.StartTimer()
		}
		if err := done(b.Context()); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric((cpu()-used).Seconds()*1000/float64(i), "cpu-ms/op") // also where others work on the machine
}

func BenchmarkCallUnchanged100(b *testing.B)   { bench(b, 100, nil) }
func BenchmarkCallUnchanged10000(b *testing.B) { bench(b, 10_000, nil) }

// filled is the path of a file of fill.
func filled(k *kit, j int) string {
	return filepath.Join(k.dir, "workspace", fmt.Sprintf("d%d", j/50), fmt.Sprintf("f%d", j))
}

// change writes n files anew.
func change(n int) func(*kit, int) {
	return func(k *kit, i int) {
		for j := range n {
			if err := os.WriteFile(filled(k, j), fmt.Appendf(nil, "%d of %d", j, i), 0o600); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

func BenchmarkCallOneOf100(b *testing.B)   { bench(b, 100, change(1)) }
func BenchmarkCallTenOf1000(b *testing.B)  { bench(b, 1000, change(10)) }
func BenchmarkCallOneOf10000(b *testing.B) { bench(b, 10_000, change(1)) }
func BenchmarkCallAllOf1000(b *testing.B)  { bench(b, 1000, change(1000)) }

// BenchmarkCopyAllOf1000 is the least that copies of the same files take: each is written beside, by its name, and the
// disk holds them all.
func BenchmarkCopyAllOf1000(b *testing.B) {
	k := newKit(b, Config{})
	k.fill(1000, 1000)
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	i, used := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		change(1000)(k, i)
		began := cpu()
		b.StartTimer()
		for j := range 1000 {
			data, err := os.ReadFile(filled(k, j))
			if err == nil {
				err = root.WriteFile(fmt.Sprintf("%d-%d", i, j), data, 0o600)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := syncFiles(root); err != nil {
			b.Fatal(err)
		}
		used += cpu() - began
		i++
	}
	b.ReportMetric(used.Seconds()*1000/float64(i), "cpu-ms/op")
}

// cpu is what this process has used of the processors.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
