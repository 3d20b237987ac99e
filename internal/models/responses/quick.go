package responses

import "github.com/pudu-ai/pudu/internal/lib/rawjson"

// quick reads the events that an answer consists of almost alone: pieces of a text or of arguments. It reports false for
// everything else, with ev half filled; encoding/json does the rest, and defines what is read here: FuzzQuick compares
// the two.
func quick(data []byte, ev *event) bool {
	s := rawjson.Scan(data)
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "type":
			ev.Type = deltaType(&s)
		case "delta":
			ev.Delta = s.Text()
		case "output_index":
			ev.OutputIndex = s.Int()
		case "content_index":
			ev.ContentIndex = s.Int()
		case "summary_index":
			ev.SummaryIndex = s.Int()
		case "sequence_number", "item_id", "obfuscation", "logprobs":
			s.Value()
		default:
			s.Fail()
		}
	}
	return s.End() && ev.Type != ""
}

// deltaType is the type of an event that is read here.
func deltaType(s *rawjson.Scanner) string {
	switch string(s.Value()) {
	case `"response.output_text.delta"`:
		return "response.output_text.delta"
	case `"response.reasoning_summary_text.delta"`:
		return "response.reasoning_summary_text.delta"
	case `"response.reasoning_text.delta"`:
		return "response.reasoning_text.delta"
	case `"response.function_call_arguments.delta"`:
		return "response.function_call_arguments.delta"
	}
	s.Fail()
	return ""
}
