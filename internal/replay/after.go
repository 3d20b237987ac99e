package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/uploads"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// placed reports whether a channel says where a thread lives.
func placed(name string) bool {
	return slices.Contains([]string{threadstate.Sandbox.Name(), threadstate.ThreadData.Name(),
		threadstate.BackgroundTasks.Name(), uploads.KnownChannel}, name)
}

// ofOneRun reports whether a channel speaks of the run that wrote it.
func ofOneRun(name string) bool {
	return name != conversation &&
		slices.ContainsFunc(agent.Channels(), func(c state.AnyChannel) bool { return c.Name() == name })
}

// after notes the results and the state that the run left.
func (t *tape) after(ctx context.Context) error {
	for i := range t.rec.Turns {
		for j := range t.rec.Turns[i].Calls {
			if c := &t.rec.Turns[i].Calls[j]; c.Result != nil {
				c.Result.fill(t.answers[i][c.ID])
			}
		}
	}
	after := &t.rec.After
	for i := range after.Questions {
		after.Questions[i].Value = timeless(after.Questions[i].Value)
	}
	for _, m := range agent.Messages.Get(t.talk) {
		after.Messages = append(after.Messages, t.entry(m))
	}
	return t.channels(ctx)
}

// entry names a message of the final conversation by where it stands, if it stands there as it is now.
func (t *tape) entry(m message.Message) Entry {
	same := func(other message.Message, ok bool) bool { return ok && visible(other) == visible(m) }
	switch m.Role {
	case message.AI:
		if i := slices.IndexFunc(t.rec.Turns, func(turn Turn) bool { return turn.ID == m.ID }); i >= 0 &&
			t.rec.Turns[i].visible() == visible(m) {
			return Entry{Ref: fmt.Sprintf("turn %d", i+1)}
		}
	case message.Tool:
		for i := range t.rec.Turns {
			for j, c := range t.rec.Turns[i].Calls {
				if a, ok := t.answers[i][c.ID]; same(a, ok && a.ID == m.ID) {
					return Entry{Ref: fmt.Sprintf("result %d.%d", i+1, j+1)}
				}
			}
		}
	default:
		if i := slices.IndexFunc(t.input, func(in message.Message) bool { return in.ID == m.ID }); i >= 0 &&
			same(t.input[i], true) {
			return Entry{Ref: fmt.Sprintf("input %d", i+1)}
		}
	}
	if i := slices.IndexFunc(t.prior, func(old message.Message) bool { return old.ID == m.ID }); i >= 0 &&
		same(t.prior[i], true) {
		return Entry{Ref: fmt.Sprintf("before %d", i+1)}
	}
	return Entry{Role: string(m.Role), Text: Str(visible(m))}
}

// visible is the text of the turn's answer.
func (t *Turn) visible() string {
	text := string(t.Text)
	for _, p := range t.Content {
		text += string(p.Text)
	}
	return text
}

// channels notes the channels that clients know.
func (t *tape) channels(ctx context.Context) error {
	if t.last == "" {
		return nil
	}
	schema, err := knownSchema()
	if err != nil {
		return err
	}
	cp, err := t.src.Store.Checkpoint(ctx, schema, t.run.ThreadID, t.last)
	if err != nil {
		return err
	}
	values, err := cp.State.Values()
	if err != nil {
		return err
	}
	for name, raw := range values {
		if schema[name] == nil || name == conversation || placed(name) {
			continue
		}
		if t.rec.After.Channels == nil {
			t.rec.After.Channels = make(map[string]Value)
		}
		t.rec.After.Channels[name] = timeless(Value(raw))
	}
	return nil
}

// fill takes the result out of the message that answers the call.
func (r *Result) fill(m message.Message) {
	text := visible(m)
	if len(text) <= maxText {
		r.Text = (*Str)(&text)
	} else {
		r.Start = Str(strings.ToValidUTF8(text[:startOfText], ""))
		r.Bytes, r.SHA256 = len(text), digest([]byte(text))
	}
	if len(m.Artifact) > 0 && string(m.Artifact) != "null" {
		r.Artifact = timeless(Value(m.Artifact))
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// timeless is a value whose times read "<time>".
func timeless(v Value) Value {
	if v.IsZero() {
		return v
	}
	var tree any
	dec := json.NewDecoder(strings.NewReader(string(v)))
	dec.UseNumber()
	if dec.Decode(&tree) != nil {
		return v
	}
	raw, err := json.Marshal(withoutTimes(tree))
	if err != nil {
		return v
	}
	return raw
}

func withoutTimes(v any) any {
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return "<time>"
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withoutTimes(v[k])
		}
	}
	return v
}
