package runs

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// gap is the frame for a reader who stopped in the middle of a message and comes back when its pieces are gone: the
// message follows as a whole, and the reader had better read the state anew. It has no id, since nothing of the run is
// in it.
func gap(run store.Run, v view, evs []event.Event) (frames.Frame, bool) {
	at, ok := frames.ParseFrameID(v.after)
	if !ok {
		return frames.Frame{}, false
	}
	for _, ev := range evs {
		m, _ := ev.Data.(event.Message)
		if !follow.Gap(ev) || at.Event.Attempt != ev.ID.Attempt || at.Event.N < m.First || at.Event.N >= ev.ID.N {
			continue
		}
		data, err := json.Marshal(map[string]string{
			"code": "stream_replay_gap", "run_id": run.ID, "requested_event_id": v.after,
			"earliest_available_event_id": ev.ID.String(), "latest_available_event_id": ev.ID.String(),
			"recovery": "reload_durable_state",
		})
		return frames.Frame{Event: "gap", Data: data}, err == nil
	}
	return frames.Frame{}, false
}
