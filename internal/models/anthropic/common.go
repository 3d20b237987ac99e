package anthropic

import "github.com/pudu-ai/pudu/internal/lib/rawjson"

// Nearly every event of an answer is a piece of a block: three members with plain values. Such events are read here in
// one pass that allocates the text alone. encoding/json does the rest, and defines what is read here: FuzzCommon
// compares the two.

// common fills an empty event from a piece of a block. It reports false, leaving ev half filled, for anything else.
func common(data []byte, ev *event) bool {
	s := rawjson.Scan(data)
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "type":
			if string(s.Value()) != `"content_block_delta"` {
				return false
			}
			ev.Type = "content_block_delta"
		case "index":
			ev.Index = s.Int()
		case "delta":
			commonDelta(&s, &ev.Delta)
		default:
			return false
		}
	}
	return s.End() && ev.Type != ""
}

func commonDelta(s *rawjson.Scanner, d *delta) {
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "type":
			d.Type = commonKind(s)
		case "text":
			d.Text = s.Text()
		case "thinking":
			d.Thinking = s.Text()
		case "partial_json":
			d.PartialJSON = s.Text()
		default:
			s.Fail()
		}
	}
}

// commonKind is the type of a common piece.
func commonKind(s *rawjson.Scanner) string {
	switch string(s.Value()) {
	case `"text_delta"`:
		return "text_delta"
	case `"thinking_delta"`:
		return "thinking_delta"
	case `"input_json_delta"`:
		return "input_json_delta"
	}
	s.Fail()
	return ""
}
