package runs

import (
	"errors"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// errEnded ends the following of a run whose last frame was written: nobody waits for its row, which says the same.
var errEnded = errors.New("the run has ended")

// project writes the frames of events. With the last one it returns errEnded.
func project(out *route.Outlet, p *frames.Projector, evs []event.Event) error {
	err := out.Write(func(add route.Add) error {
		for _, ev := range evs {
			fs, err := p.Project(ev)
			if err != nil {
				return err
			}
			for _, f := range fs {
				if err := addFrame(add, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil || !p.Ended() {
		return err
	}
	return errEnded
}

func addFrame(add route.Add, f frames.Frame) error {
	return add(func(b []byte) ([]byte, error) { return f.AppendSSE(b), nil })
}

func writeFrame(out *route.Outlet, f frames.Frame) error {
	return out.Write(func(add route.Add) error { return addFrame(add, f) })
}
