package follow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
)

// TestMemoryKeepsItsPromises: after any events it is within its bounds, and holds every event behind its floor.
func TestMemoryKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxEvents: rapid.IntRange(1, 200).Draw(t, "max"), MaxBytes: rapid.IntRange(1, 100_000).Draw(t, "max bytes"),
			TailEvents: rapid.IntRange(1, 100).Draw(t, "tail"), TailBytes: rapid.IntRange(1, 50_000).
					Draw(t, "tail bytes"),
		}
		m := memory{cfg: &cfg}
		m.reset(floorOf(1, 0), 1, nil)
		open := make(map[string]int64)
		var all []event.Event
		for i := range rapid.IntRange(0, 150).Draw(t, "events") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "message")
			ev := event.Event{ID: event.ID{Attempt: 1, N: int64(i + 1)}, Node: id}
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				ev.Data = event.Message{MessageID: id}
				delete(open, id)
			case 1:
				ev.Data = event.Custom{Value: make([]byte, rapid.IntRange(0, 2000).Draw(t, "size"))}
			default:
				ev.Data = event.Chunk{MessageID: id, Text: "x"}
				if open[id] == 0 {
					open[id] = ev.ID.N
				}
			}
			all = append(all, ev)
			m.add(ev)
			checkMemory(t, &m, all, open)
		}
	})
}

func checkMemory(t *rapid.T, m *memory, all []event.Event, open map[string]int64) {
	last := all[len(all)-1].ID
	least := event.ID{Attempt: 1, N: last.N + 1}
	for _, n := range open {
		least.N = min(least.N, n)
	}
	if got := m.settledID(); got.N != least.N-1 || m.lastID() != last {
		t.Fatalf("settled up to %s, want before %s; the last is %s", got, least, m.lastID())
	}
	bytes, settled, settledBytes := 0, 0, 0
	for i := range m.events {
		w := weight(m.events[i].data)
		bytes += w
		if m.events[i].n < least.N {
			settled++
			settledBytes += w
		}
	}
	if bytes != m.bytes || settled != m.settled || settledBytes != m.settledBytes {
		t.Fatalf("counted %d bytes, %d settled with %d; are %d, %d, %d", m.bytes, m.settled, m.settledBytes, bytes,
			settled, settledBytes)
	}
	if len(m.events) > m.cfg.MaxEvents || bytes > m.cfg.MaxBytes || settled > m.cfg.TailEvents ||
		settledBytes > m.cfg.TailBytes && len(m.events) > keepAlways {
		t.Fatalf("%d events, %d bytes, %d settled with %d bytes", len(m.events), bytes, settled, settledBytes)
	}
	held := m.after(m.floor, 1<<30)
	if !slices.EqualFunc(all[m.floor.N:], held,
		func(a, b event.Event) bool { return a.ID == b.ID && a.Node == b.Node && a.Data.Kind() == b.Data.Kind() }) {
		t.Fatalf("after %s: %v, want %v", m.floor, held, all[m.floor.N:])
	}
	if n := len(m.after(m.floor, 3)); n > 3 || m.after(last, 3) != nil {
		t.Fatalf("%d events for 3", n)
	}
}

func TestMemoryWaitsForTheOwnAttempt(t *testing.T) {
	m := memory{cfg: &Config{MaxEvents: 10, MaxBytes: 1e6, TailEvents: 10, TailBytes: 1e6}}
	m.reset(floorOf(2, 5), 2, map[string]int64{"m": 3})
	for _, id := range []event.ID{{Attempt: 1, N: 9}, {Attempt: 3, N: 9}, {Attempt: 2, N: 5}, {Attempt: 2, N: 4}} {
		m.add(event.Event{ID: id, Data: event.Custom{}})
	}
	if len(m.events) > 0 || m.settledID() != (event.ID{Attempt: 2, N: 2}) {
		t.Errorf("%d events, settled up to %s", len(m.events), m.settledID())
	}
}

func FuzzCutHeader(f *testing.F) {
	for _, s := range []string{"", "{}", `{"attempt":1,"from":"p","has":2,"after":3,"open":{"m":1}}` + "\n[]",
		`{"attempt":1}` + "\n[{}]", "\n", "null\nnull"} {
		f.Add([]byte(s))
	}
	cfg := Config{Owner: "me"}.withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		h, raw, err := cutHeader(data)
		if err == nil && (h.Attempt < 1 || h.After < 0 || len(raw) > len(data)) {
			t.Fatalf("%+v", h)
		}
		tp := newTopic(&Hub{cfg: cfg}, access.FromRow("u"), "r")
		tp.hear(data)
		tp.hear(data)
		if tp.known && tp.mem.attempt != h.Attempt {
			t.Fatalf("attempt %d, published was %d", tp.mem.attempt, h.Attempt)
		}
	})
}

// An update that is there as it was made, too, takes its memory beside its bytes.
func TestAnUpdateAsItWasMadeHasItsWeight(t *testing.T) {
	d := event.State{Writes: make([]byte, 1000)}
	stored := weight(d)
	d.Update = noUpdate{}
	if made := weight(d); made < stored+len(d.Writes) {
		t.Errorf("%d bytes, %d when it was read from the log", made, stored)
	}
}

type noUpdate struct{ event.Update }
