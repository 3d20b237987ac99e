package threadstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

func TestSideUsageAddsUpWithinARun(t *testing.T) {
	one := message.Usage{InputTokens: 10, OutputTokens: 2, TotalTokens: 12, CacheRead: 5}
	u := AddSideUsage("a", "small", one).With(AddSideUsage("a", "big", one), AddSideUsage("a", "small", one))
	s, _, err := state.State{}.Apply(u)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]message.Usage{"small": one.Add(one), "big": one}, SideUsage(s, "a")); diff != "" {
		t.Error(diff)
	}
	if got := SideUsage(s, "b"); got != nil {
		t.Errorf("another run took %v", got)
	}
	raw, err := s.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := state.NewSchema(SideUsageChannel())
	if err != nil {
		t.Fatal(err)
	}
	if s, err = schema.LoadSnapshot(raw); err != nil {
		t.Fatal(err)
	}
	if s, _, err = s.Apply(AddSideUsage("b", "big", one)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]message.Usage{"big": one}, SideUsage(s, "b")); diff != "" ||
		!SideUsageChannel().Private() {
		t.Error(diff)
	}
}
