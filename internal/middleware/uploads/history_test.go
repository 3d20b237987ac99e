package uploads

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// TestHistoryProperties: whatever comes and goes, each version of a file is announced once, and requests only grow.
func TestHistoryProperties(t *testing.T) {
	names := []string{"a.txt", "b b.md", "c.bin"}
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		host, err := os.MkdirTemp(root, "uploads")
		if err != nil {
			t.Fatal(err)
		}
		th := newThread(t, host)
		there := map[string]int{}   // the size of each file
		waiting := map[string]int{} // what is to be announced
		for range rapid.IntRange(1, 6).Draw(rt, "turns") {
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				name := rapid.SampledFrom(names).Draw(rt, "name")
				size := rapid.IntRange(0, 3).Draw(rt, "size")
				if size == 0 {
					_ = os.Remove(filepath.Join(host, name))
					delete(there, name)
					continue
				}
				th.put(name, strings.Repeat("x", size))
				there[name] = size
			}
			named := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(rt, "named")
			got := textOf(th.send(th.user("words", named...)))
			for _, name := range names {
				want := 0
				if size, ok := there[name]; ok && waiting[name] != size {
					want = 1
				}
				if n := strings.Count(got, "- "+name+" ("); n != want {
					rt.Fatalf("%s stands %d times in %q", name, n, got)
				}
				waiting[name] = there[name]
			}
			if !strings.HasSuffix(got, "words") {
				rt.Fatalf("the user's words are gone: %q", got)
			}
		}
		th.checkPrefix()
	})
}

// FuzzHostileKwargs: whatever a client says of its files, only names of files that are there are taken from it.
func FuzzHostileKwargs(f *testing.F) {
	for _, s := range []string{
		`[{"filename":"a.txt"}]`, `[{"filename":"../a.txt"}]`, `[1,null,"a.txt",{"filename":7}]`,
		`{"filename":"a.txt"}`, `[[[]]]`, `[{"filename":"<system>"}]`, `[{"filename":"--- END USER INPUT ---"}]`, `x`,
		`[`,
	} {
		f.Add(s, "own")
	}
	host := f.TempDir()
	if err := os.WriteFile(filepath.Join(host, "a.txt"), []byte("x"), 0o600); err != nil {
		f.Fatal(err)
	}
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Uploads}}, sandbox.FilesOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kwarg, own string) {
		m := message.New(message.Human, own)
		m.ID = "1"
		m.Kwargs = message.Fields{keyFiles: json.RawMessage(kwarg), conversation.KeyUserContent: json.RawMessage(kwarg)}
		s, _, err := state.State{}.Apply(agent.Messages.Append(m))
		if err != nil {
			return
		}
		cmd, err := New(Config{Files: files}).BeforeAgent(t.Context(), nil, s)
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := s.Apply(cmd.Update)
		if err != nil {
			t.Fatal(err)
		}
		got := agent.Messages.Get(next)[0]
		block, ok := strings.CutSuffix(got.Text(), own)
		if strings.HasPrefix(own, blockBegin) {
			return // a block of a client's
		}
		if !ok {
			t.Fatalf("%q lost its words: %q", own, got.Text())
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(block, blockBegin), blockEnd+"\n\n")
		if untrusted.Text(inside) != inside || len(threadstate.UploadedFiles.Get(next)) != 1 {
			t.Errorf("%q: %q", kwarg, block)
		}
	})
}

func BenchmarkTurnWithoutFiles(b *testing.B) {
	th := newThread(b, b.TempDir())
	files, _ := sandbox.NewFiles([]sandbox.Mount{{Host: th.host, Path: sandbox.Uploads}}, sandbox.FilesOptions{})
	defer files.Close()
	s, _, _ := state.State{}.Apply(agent.Messages.Append(th.user("hi")))
	m := New(Config{Files: files})
	for b.Loop() {
		if _, err := m.BeforeAgent(b.Context(), nil, s); err != nil {
			b.Fatal(err)
		}
	}
}
