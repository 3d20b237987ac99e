package runs

import "github.com/pudu-ai/pudu/event"

// streams are the messages of a run that are being streamed, by id: where their chunks stand among the run's events.
type streams map[string]*streaming

type streaming struct {
	first, last int64       // numbers of chunks
	count       int         // of chunks
	skips       map[int]int // the chunk that others were numbered before, and how many
}

// note completes an event as it gets its number: a message learns where its chunks are, and a durable event which
// message is still to come.
func (s streams) note(ev *event.Event) {
	switch d := ev.Data.(type) {
	case event.Chunk:
		s.chunk(d.MessageID, ev.ID.N)
		return
	case event.Message:
		if st := s[d.MessageID]; st != nil {
			d.First = st.first
			for i, n := range st.skips {
				if i < len(d.Chunks) {
					d.Chunks[i].Skip = n
				}
			}
			ev.Data = d
			delete(s, d.MessageID)
		}
	case event.Discard:
		delete(s, d.MessageID)
	case event.Run:
		if d.Status != event.StatusRunning {
			clear(s)
		}
	}
	if ev.Data.Kind().Live() {
		return
	}
	for _, st := range s {
		if ev.Open == 0 || st.first < ev.Open {
			ev.Open = st.first
		}
	}
}

func (s streams) chunk(messageID string, n int64) {
	st := s[messageID]
	if st == nil {
		s[messageID] = &streaming{first: n, last: n, count: 1}
		return
	}
	if skip := n - st.last - 1; skip > 0 {
		if st.skips == nil {
			st.skips = make(map[int]int)
		}
		st.skips[st.count] = int(skip)
	}
	st.last = n
	st.count++
}
