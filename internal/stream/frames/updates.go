package frames

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// result shows what a node has written, in the modes that have that.
func (p *Projector) result(s *scope, ev *event.Event, c *change) error {
	if !p.wants(inUpdates | inTasks | inDebug) {
		return nil
	}
	object, err := appendWritten(nil, c.writes)
	if err != nil {
		return err
	}
	if p.wants(inUpdates) {
		o := rawjson.Begin(make([]byte, 0, len(object)+len(c.node)+16))
		o.Key(c.node)
		if len(object) > len(`{}`) {
			o.Buf = append(o.Buf, object...)
		} else {
			o.Buf = append(o.Buf, null...)
		}
		p.emit(s, string(Updates), append(o.Buf, '}'))
	}
	return p.endTask(s, ev, c, object)
}

// written is what an update writes to one channel.
type written struct {
	channel string
	list    bool
	items   [][]byte
	value   []byte
}

// appendWritten appends the visible writes as an object: a list has the items that were added or changed, and
// a message of type "remove" for each that was dropped; another channel has the value that was written.
func appendWritten(b []byte, writes []state.Write) ([]byte, error) {
	var all []*written
	for _, w := range writes {
		if w.Private {
			continue
		}
		if err := of(&all, w.Channel).add(w); err != nil {
			return nil, err
		}
	}
	o := rawjson.Begin(b)
	for _, w := range all {
		o.Key(w.channel)
		if !w.list {
			o.Buf = append(o.Buf, w.value...)
			continue
		}
		o.Buf = append(o.Buf, '[')
		for i, item := range w.items {
			if i > 0 {
				o.Buf = append(o.Buf, ',')
			}
			o.Buf = append(o.Buf, item...)
		}
		o.Buf = append(o.Buf, ']')
	}
	return o.End()
}

func of(all *[]*written, channel string) *written {
	for _, w := range *all {
		if w.channel == channel {
			return w
		}
	}
	w := &written{channel: channel}
	*all = append(*all, w)
	return w
}

func (w *written) add(u state.Write) (err error) {
	switch u.Op {
	case state.OpAppend, state.OpReplace, state.OpReset:
		return w.addItems(u)
	case state.OpRemove:
		var ids []string
		if err := json.Unmarshal(u.Value, &ids); err != nil {
			return err
		}
		w.list = true
		for _, id := range ids {
			w.items = append(w.items, removal(id))
		}
		return nil
	}
	w.value, err = oneLine(u.Value)
	return err
}

func (w *written) addItems(u state.Write) error {
	w.list = true
	if u.Op == state.OpReset {
		w.items = [][]byte{removal(message.RemoveAll)}
	}
	items, _ := rawjson.Elements(u.Value)
	for _, raw := range items {
		line, err := oneLine(raw)
		if w.channel == agent.Messages.Name() {
			line, err = messageLine(raw)
		}
		if err != nil {
			return err
		}
		w.items = append(w.items, line)
	}
	return nil
}
