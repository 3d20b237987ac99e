package state

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// item is what the logs of these tests hold.
type item struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

var (
	logCh   = Log("log", func(i item) string { return i.ID })
	titleCh = LastValue[string]("title")
	sumCh   = Reduced("sum", func(old, upd int) (int, error) {
		if upd < 0 {
			return 0, errors.New("negative")
		}
		return old + upd, nil
	})
	secretCh = LastValue[[]string]("secret").AsPrivate()
)

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func schema(t fataler, chs ...AnyChannel) Schema {
	t.Helper()
	s, err := NewSchema(chs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func all(t fataler) Schema { return schema(t, logCh, titleCh, sumCh, secretCh) }

func apply(t fataler, s State, u Update) State {
	t.Helper()
	next, _, err := s.Apply(u)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func load(t fataler, s Schema, values string) State {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(values), &m); err != nil {
		t.Fatal(err)
	}
	st, err := s.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// values returns the JSON form of s without compaction.
func values(t fataler, s State) map[string]string {
	t.Helper()
	m, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}

func encodeUpdate(t fataler, u Update) []byte {
	t.Helper()
	b, err := u.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func snapshot(t fataler, s State) []byte {
	t.Helper()
	b, err := s.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantErr(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}
