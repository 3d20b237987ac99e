package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// jsonData is implemented by every type of Data: it adds the members of the type's JSON object, byte for byte.
type jsonData interface{ appendMembers(o *rawjson.Object) }

// decoders makes the data of each kind.
var decoders = map[Kind]func(json.RawMessage) (Data, error){
	KindRun:       decode[Run],
	KindState:     decode[State],
	KindMessage:   decode[Message],
	KindDiscard:   decode[Discard],
	KindToolStart: decode[ToolStart],
	KindToolEnd:   decode[ToolEnd],
	KindInterrupt: decode[Interrupt],
	KindCustom:    decode[Custom],
	KindChild:     decode[Child],
	KindCall:      decode[Call],
	KindChunk:     decode[Chunk],
	KindProgress:  decode[Progress],
}

func decode[T Data](raw json.RawMessage) (Data, error) {
	var d T
	err := json.Unmarshal(raw, &d)
	return d, err
}

// MarshalJSON implements [json.Marshaler] by [Event.AppendJSON]. json.Marshal compacts its result.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends
//
//	{"id":"1-7","time":RFC 3339,"kind":"chunk","node":"model","ns":["call_1"],"data":{...}}
//
// without node and ns if they are empty, and with "open" before data if it is not 0. JSON values in the data are
// written byte for byte and may contain line breaks. A value that is no JSON is an error, which names it.
func (e Event) AppendJSON(b []byte) ([]byte, error) {
	out, err := e.appendJSON(b)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	return out, nil
}

func (e *Event) appendJSON(b []byte) ([]byte, error) {
	if e.Data == nil || e.Data.Kind() == "" {
		return nil, errors.New("it has no data")
	}
	o := rawjson.Begin(b)
	o.Key("id")
	o.Buf = append(o.Buf, '"')
	o.Buf = strconv.AppendInt(o.Buf, int64(e.ID.Attempt), 10)
	o.Buf = append(o.Buf, '-')
	o.Buf = strconv.AppendInt(o.Buf, e.ID.N, 10)
	o.Buf = append(o.Buf, '"')
	o.Key("time")
	if y := e.Time.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("year %d has no RFC 3339 form", y)
	}
	o.Buf = append(o.Buf, '"')
	o.Buf = e.Time.AppendFormat(o.Buf, time.RFC3339Nano)
	o.Buf = append(o.Buf, '"')
	o.String("kind", string(e.Data.Kind()))
	o.OmitEmpty("node", e.Node)
	if len(e.Namespace) > 0 {
		o.Key("ns")
		o.Buf = appendList(o.Buf, e.Namespace, rawjson.AppendString)
	}
	if e.Open != 0 {
		o.Int("open", e.Open)
	}
	o.Key("data")
	data, err := appendData(o.Buf, e.Data)
	o.Done("data", data, err)
	return o.End()
}

func appendData(b []byte, d Data) ([]byte, error) {
	if u, ok := d.(Unknown); ok {
		return rawjson.AppendRaw(b, u.Raw)
	}
	j, ok := d.(jsonData)
	if !ok {
		return nil, fmt.Errorf("%T is no type of this package", d)
	}
	o := rawjson.Begin(b)
	j.appendMembers(&o)
	return o.End()
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// UnmarshalJSON implements [json.Unmarshaler]. The data of a kind that this version does not know becomes [Unknown].
func (e *Event) UnmarshalJSON(raw []byte) error {
	var w struct {
		ID   string          `json:"id"`
		Time time.Time       `json:"time"`
		Kind Kind            `json:"kind"`
		Node string          `json:"node"`
		NS   []string        `json:"ns"`
		Open int64           `json:"open"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	id, err := ParseID(w.ID)
	if err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	data, err := decodeData(w.Kind, w.Data)
	if err != nil {
		return fmt.Errorf("decode event %s: %w", id, err)
	}
	*e = Event{ID: id, Time: w.Time, Node: w.Node, Open: w.Open, Data: data}
	if len(w.NS) > 0 {
		e.Namespace = w.NS
	}
	return nil
}

func decodeData(kind Kind, raw json.RawMessage) (Data, error) {
	if kind == "" || len(raw) == 0 {
		return nil, errors.New("it has no kind or no data")
	}
	dec := decoders[kind]
	if dec == nil {
		return Unknown{KindName: kind, Raw: raw}, nil
	}
	d, err := dec(raw)
	if err != nil {
		return nil, fmt.Errorf("data of kind %q: %w", kind, err)
	}
	return d, nil
}

var (
	_ json.Marshaler   = Event{}
	_ json.Unmarshaler = (*Event)(nil)
)
