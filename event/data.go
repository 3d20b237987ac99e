package event

import (
	"encoding/json"
	"strconv"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Below, each type of Data writes its JSON form; the struct tags say how it is read. The two must agree, which the
// round-trip test of every kind checks.

func (d Run) appendMembers(o *rawjson.Object) {
	o.String("status", d.Status)
	o.OmitEmpty("error", d.Error)
	o.OmitEmpty("stop_reason", d.StopReason)
}

func (d State) appendMembers(o *rawjson.Object) {
	o.RawOmitEmpty("writes", d.Writes)
	o.OmitEmpty("checkpoint", d.Checkpoint)
	o.OmitEmpty("next", d.Next)
	if d.Last {
		o.Raw("last", json.RawMessage("true"))
	}
}

func (d Message) appendMembers(o *rawjson.Object) {
	o.String("message_id", d.MessageID)
	if d.First != 0 {
		o.Int("first", d.First)
	}
	if len(d.Chunks) > 0 {
		o.Key("chunks")
		o.Buf = appendList(o.Buf, d.Chunks, appendCut)
	}
	if d.Call != nil {
		o.Key("call")
		call := rawjson.Begin(o.Buf)
		d.Call.appendMembers(&call)
		b, err := call.End()
		o.Done("call", b, err)
	}
}

func (d Call) appendMembers(o *rawjson.Object) {
	d.appendTry(o)
	o.OmitEmpty("message_id", d.MessageID)
	if len(d.Before) > 0 {
		o.Key("tries")
		o.Buf = appendList(o.Buf, d.Before, func(b []byte, t Try) []byte {
			one := rawjson.Begin(b)
			t.appendTry(&one)
			b, _ = one.End() // strings and numbers have no bad form
			return b
		})
	}
	o.RawOmitEmpty("sent", d.Sent)
}

func (t *Try) appendTry(o *rawjson.Object) {
	o.OmitEmpty("m", t.Model)
	o.Int("b", t.Began)
	if t.First != 0 {
		o.Int("f", t.First)
	}
	o.Int("t", t.Took)
	o.OmitEmpty("c", t.Class)
	o.OmitEmpty("e", t.Error)
}

func appendCut(b []byte, c Cut) []byte {
	o := rawjson.Begin(b)
	if c.Reasoning != 0 {
		o.Int("r", int64(c.Reasoning))
	}
	if c.Text != 0 {
		o.Int("t", int64(c.Text))
	}
	if len(c.Args) > 0 {
		o.Key("a")
		o.Buf = appendList(o.Buf, c.Args, func(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) })
	}
	if c.Skip != 0 {
		o.Int("s", int64(c.Skip))
	}
	if c.Piece != nil {
		o.Key("p")
		p := rawjson.Begin(o.Buf)
		c.Piece.appendMembers(&p)
		o.Buf, _ = p.End() // strings and numbers have no bad form
	}
	b, _ = o.End()
	return b
}

func (d Discard) appendMembers(o *rawjson.Object) {
	o.String("message_id", d.MessageID)
	o.OmitEmpty("reason", d.Reason)
}

func (d ToolStart) appendMembers(o *rawjson.Object) {
	o.String("call_id", d.CallID)
	o.String("message_id", d.MessageID)
	o.String("tool", d.Tool)
	o.RawOmitEmpty("args", d.Args)
}

func (d ToolEnd) appendMembers(o *rawjson.Object) {
	o.String("call_id", d.CallID)
	o.String("message_id", d.MessageID)
	o.String("tool", d.Tool)
	if d.IsError {
		o.Raw("is_error", json.RawMessage("true"))
	}
	o.RawOmitEmpty("writes", d.Writes)
	o.OmitEmpty("goto", d.Goto)
	o.OmitEmpty("summary", d.Summary)
	o.Int("millis", d.Millis)
}

func (d Interrupt) appendMembers(o *rawjson.Object) {
	o.String("interrupt_id", d.InterruptID)
	o.OmitEmpty("call_id", d.CallID)
	o.RawOmitEmpty("value", d.Value)
}

func (d Child) appendMembers(o *rawjson.Object) {
	o.String("run_id", d.RunID)
	o.Int("attempt", int64(d.Attempt))
	o.Int("n", d.N)
}

func (d Custom) appendMembers(o *rawjson.Object) { o.RawOmitEmpty("value", d.Value) }

func (d Chunk) appendMembers(o *rawjson.Object) {
	o.String("message_id", d.MessageID)
	o.OmitEmpty("text", d.Text)
	o.OmitEmpty("reasoning", d.Reasoning)
	if len(d.ToolCalls) > 0 {
		o.Key("tool_calls")
		o.Buf = appendList(o.Buf, d.ToolCalls, appendCallChunk)
	}
}

func appendCallChunk(b []byte, c ToolCallChunk) []byte {
	o := rawjson.Begin(b)
	o.Int("index", int64(c.Index))
	o.OmitEmpty("id", c.ID)
	o.OmitEmpty("name", c.Name)
	o.OmitEmpty("args", c.Args)
	b, _ = o.End()
	return b
}

func (d Progress) appendMembers(o *rawjson.Object) {
	o.String("call_id", d.CallID)
	o.String("text", d.Text)
}
