package crash

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// TestTheOracleSees changes what an undisturbed run has left behind, and wants the oracle to name it.
func TestTheOracleSees(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), NoShell: true})
	said := func(change func(m *message.Message)) func(*site, *ending) {
		return func(_ *site, e *ending) {
			msgs := slices.Clone(agent.Messages.Get(e.state))
			i := slices.IndexFunc(msgs, func(m message.Message) bool { return m.ToolCallID == "c2-1" })
			m := msgs[i]
			change(&m)
			e.state = applied(t, e.state, agent.Messages.Replace(m))
		}
	}
	effect := func(line string, n int) func(*site, *ending) {
		return func(_ *site, e *ending) { e.effects[line] = n }
	}
	for name, test := range map[string]struct {
		spoil func(*site, *ending)
		want  string
	}{
		"nothing":                    {func(*site, *ending) {}, ""},
		"a read that ran twice":      {effect("c2-0 look", 2), ""},
		"a side effect that did":     {effect("c0-0 note", 2), "happened 2 times"},
		"a result without an effect": {effect("c0-0 note", 0), "never happened"},
		"an effect from nowhere":     {effect("c99-0 note", 1), "never asked for"},
		"another text": {said(func(m *message.Message) { m.Content = []message.Part{message.Text("!")} }),
			"state: message"},
		"a read of unknown outcome": {said(func(m *message.Message) {
			m.Kwargs = message.Fields{message.KeyOutcomeUnknown: []byte("true")}
		}), "which may run twice"},
		"an unknown outcome without a crash": {said(func(m *message.Message) {
			m.Kwargs = message.Fields{message.KeyOutcomeUnknown: []byte("true")}
		}), "began in attempt 1, ended in 1"},
		"a channel too many": {func(_ *site, e *ending) {
			e.state = applied(t, e.state, state.LastValue[string]("extra").Put("x"))
		}, "state: channel extra is there"},
		"a failed run": {func(_ *site, e *ending) { e.run.Status = event.StatusError }, "ended as error"},
		"a damaged store": {func(_ *site, e *ending) { e.faults = []string{"store: a page is gone"} },
			"a page is gone"},
		"a lost event": {func(_ *site, e *ending) { e.events = e.events[:len(e.events)-1] }, "event 1-"},
		"a result twice": {func(_ *site, e *ending) { e.events = append(e.events, lastEnd(e.events)) },
			"has 2 results"},
		"ids that shrink":  {func(_ *site, e *ending) { slices.Reverse(e.events) }, "comes after"},
		"an unseen change": {func(s *site, _ *ending) { s.seen["m"] = "sum" }, "message m, which was shown"},
		"an event that changed": {func(s *site, _ *ending) {
			s.events["1-1"] = "sum"
		}, "event 1-1, which was shown"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.want
			got.effects, got.events = maps.Clone(got.effects), slices.Clone(got.events)
			s := newSite(c.orderIn("undisturbed"))
			for _, ev := range c.want.events {
				s.events[ev.ID.String()] = sumEvent(ev)
			}
			test.spoil(s, &got)
			wrong := strings.Join(s.judge(got, c.want).wrong, "\n")
			if (wrong == "") != (test.want == "") || !strings.Contains(wrong, test.want) {
				t.Errorf("the oracle says %q, want %q", wrong, test.want)
			}
		})
	}
}

func applied(t *testing.T, s state.State, u state.Update) state.State {
	t.Helper()
	next, _, err := s.Apply(u)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// lastEnd is the last result of the log once more, under a later id.
func lastEnd(evs []event.Event) event.Event {
	for _, ev := range slices.Backward(evs) {
		if ev.Data.Kind() == event.KindToolEnd {
			ev.ID = event.ID{Attempt: 99, N: 1}
			return ev
		}
	}
	return event.Event{}
}
