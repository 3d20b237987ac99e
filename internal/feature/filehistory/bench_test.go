package filehistory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fill writes n files of size bytes into the workspace, fifty a folder.
func (k *kit) fill(n, size int) {
	k.t.Helper()
	for i := range n {
		name := filepath.Join(k.dir, "workspace", fmt.Sprintf("d%d", i/50), fmt.Sprintf("f%d", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			k.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprint(i, " "), size)[:size]), 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
}

// bench measures what the history of a call costs: the look before it, and the one after it.
func bench(b *testing.B, files int, change func(k *kit, i int)) {
	k := newKit(b, Config{})
	k.fill(files, 1000)
	k.bash("first", "true")
	i := 0
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
}

func BenchmarkCallUnchanged100(b *testing.B)   { bench(b, 100, nil) }
func BenchmarkCallUnchanged10000(b *testing.B) { bench(b, 10_000, nil) }

// change writes n files anew.
func change(n int) func(*kit, int) {
	return func(k *kit, i int) {
		for j := range n {
			name := filepath.Join(k.dir, "workspace", fmt.Sprintf("d%d", j/50), fmt.Sprintf("f%d", j))
			if err := os.WriteFile(name, fmt.Appendf(nil, "%d of %d", j, i), 0o600); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

func BenchmarkCallOneOf100(b *testing.B)   { bench(b, 100, change(1)) }
func BenchmarkCallTenOf1000(b *testing.B)  { bench(b, 1000, change(10)) }
func BenchmarkCallOneOf10000(b *testing.B) { bench(b, 10_000, change(1)) }
