package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// version is that of the form, and of what [conversation.AppendSent] and [compaction.Project] make of a conversation:
// both are what the log does not say twice.
const version = 1

// difference is what the log keeps of a request:
//
//	{"v":1,"f":FRAME,"n":MESSAGES,"k":SUM,"m":[[0,5],{"m":"{...}"},{"r":"NAME"},[6,40]]}
//
// The messages are those of its base, one after the other, unless "m" says which of them, and what stands between. The
// base is the conversation of the state as it is usually sent, or, with "plain", as it is.
type difference struct {
	frame  string
	count  int
	sum    string
	plain  bool
	pieces []piece // nil: all of the base
}

// piece is a part of a request: some messages of the base, a message that it does not have, or one that an earlier call
// of the run has told of.
type piece struct {
	from, n int
	own     json.RawMessage
	named   string
}

// append writes the form. Messages are texts in it, so that what looks for members of an event finds none of theirs.
func (d *difference) append(b []byte) []byte {
	o := rawjson.Begin(b)
	o.Int("v", version)
	o.OmitEmpty("f", d.frame)
	o.Int("n", int64(d.count))
	o.String("k", d.sum)
	if d.plain {
		o.Raw("plain", json.RawMessage("true"))
	}
	if d.pieces != nil {
		o.Key("m")
		o.Buf = append(o.Buf, '[')
		for i, p := range d.pieces {
			if i > 0 {
				o.Buf = append(o.Buf, ',')
			}
			o.Buf = p.append(o.Buf)
		}
		o.Buf = append(o.Buf, ']')
	}
	b, _ = o.End() // strings and numbers have no bad form
	return b
}

func (p *piece) append(b []byte) []byte {
	switch {
	case p.own != nil:
		o := rawjson.Begin(b)
		o.String("m", string(p.own))
		b, _ = o.End()
	case p.named != "":
		o := rawjson.Begin(b)
		o.String("r", p.named)
		b, _ = o.End()
	default:
		b = strconv.AppendInt(append(b, '['), int64(p.from), 10)
		b = append(strconv.AppendInt(append(b, ','), int64(p.n), 10), ']')
	}
	return b
}

var errForm = errors.New("the log holds what a call was sent in a form that cannot be read")

// parse reads the form.
func parse(raw []byte) (d difference, err error) {
	var form struct {
		Version int               `json:"v"`
		Frame   string            `json:"f"`
		Count   int               `json:"n"`
		Sum     string            `json:"k"`
		Plain   bool              `json:"plain"`
		Pieces  []json.RawMessage `json:"m"`
	}
	if json.Unmarshal(raw, &form) != nil {
		return d, errForm
	}
	if form.Version != version {
		return d, fmt.Errorf("what the call was sent is kept in form %d, and this Pudu reads form %d", form.Version,
			version)
	}
	d = difference{frame: form.Frame, count: form.Count, sum: form.Sum, plain: form.Plain}
	if form.Pieces != nil {
		d.pieces = make([]piece, len(form.Pieces))
	}
	for i, raw := range form.Pieces {
		if d.pieces[i], err = parsePiece(raw); err != nil {
			return difference{}, err
		}
	}
	return d, nil
}

func parsePiece(raw json.RawMessage) (p piece, err error) {
	var span []int
	if json.Unmarshal(raw, &span) == nil && len(span) == 2 && span[0] >= 0 && span[1] > 0 {
		return piece{from: span[0], n: span[1]}, nil
	}
	var other struct {
		Message string `json:"m"`
		Named   string `json:"r"`
	}
	if json.Unmarshal(raw, &other) != nil || (other.Message == "") == (other.Named == "") {
		return p, errForm
	}
	if other.Named != "" {
		return piece{named: other.Named}, nil
	}
	return piece{own: json.RawMessage(other.Message)}, nil
}

// own decodes a message of a piece.
func own(raw json.RawMessage) (m message.Message, err error) {
	if json.Unmarshal(raw, &m) != nil {
		err = errForm
	}
	return m, err
}
