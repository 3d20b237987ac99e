package openai

import "github.com/pudu-ai/pudu/internal/lib/rawjson"

// Nearly every event of an answer has one shape: one choice, a delta of plain values or pieces of tool calls. Such
// events, and such pieces, are read here in one pass that allocates next to nothing; without it a whole run takes 30 %
// more of a processor (ADR 10). encoding/json does the rest, and defines what is read here: FuzzCommonEvent and
// FuzzCommonCall compare the two.

// common fills an empty event from data whose values it then shares. It reports false, leaving ev half filled, for
// anything out of the common, be it valid or not.
func common(data []byte, ev *event) bool {
	s := rawjson.Scan(data)
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "choices":
			commonChoices(&s, ev)
		case "usage":
			s.Null()
		case "error":
			ev.Error = s.Null()
		case "id":
			ev.ID = s.Value()
		case "model":
			ev.Model = s.Value()
		case "system_fingerprint":
			ev.Fingerprint = s.Value()
		default:
			unknown(&s, key)
		}
	}
	return s.End()
}

// unknown steps over a member that is not looked at. Its name must be of small letters, digits and underscores: the
// decoder takes "Choices" for "choices" too, and these cannot be mistaken.
func unknown(s *rawjson.Scanner, key []byte) {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			s.Fail()
			return
		}
	}
	s.Value()
}

// commonChoices reads a list of one choice.
func commonChoices(s *rawjson.Scanner, ev *event) {
	if len(ev.Choices) > 0 { // a second list would be merged with the first
		s.Fail()
	}
	if !s.List() {
		s.Fail()
		return
	}
	ev.Choices = append(ev.Choices, choice{})
	commonChoice(s, &ev.Choices[0])
	if s.More() {
		s.Fail()
	}
}

func commonChoice(s *rawjson.Scanner, c *choice) {
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "delta":
			commonDelta(s, &c.Delta)
		case "index":
			c.Index = s.Int()
		case "finish_reason":
			c.FinishReason = textOr(s, c.FinishReason)
		case "message", "usage":
			s.Null()
		default:
			unknown(s, key)
		}
	}
}

func commonDelta(s *rawjson.Scanner, d *delta) {
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "content":
			d.Content = s.Value()
		case "refusal":
			d.Refusal = s.Value()
		case "reasoning_content":
			d.ReasoningContent = s.Value()
		case "reasoning":
			d.Reasoning = s.Value()
		case "tool_calls":
			commonCalls(s, d)
		case "function_call":
			d.FunctionCall = s.Null()
		case "reasoning_details":
			s.Null()
		default:
			unknown(s, key)
		}
	}
}

// commonCalls reads a list of pieces without looking into them.
func commonCalls(s *rawjson.Scanner, d *delta) {
	switch {
	case len(d.ToolCalls) > 0: // a second list would be merged with the first
		s.Fail()
	case s.Peek() == 'n':
		s.Null()
	case !s.List():
		s.Fail() // an empty list is not the same as none
	default:
		d.ToolCalls = append(d.ToolCalls, s.Value())
		for s.More() {
			d.ToolCalls = append(d.ToolCalls, s.Value())
		}
	}
}

// commonCall fills a piece of a tool call from raw, in the way of [common]: nothing in it is unknown. The piece is
// empty, but for the memory of an index, which is used again.
func commonCall(raw []byte, d *callDelta) bool {
	s, index := rawjson.Scan(raw), d.Index
	d.Index = nil
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "index":
			if index == nil {
				index = new(int)
			}
			*index = s.Int()
			d.Index = index
		case "id":
			d.ID = textOr(&s, d.ID)
		case "type":
			s.Value()
		case "function":
			commonFunction(&s, d)
		default:
			s.Fail()
		}
	}
	return s.End()
}

func commonFunction(s *rawjson.Scanner, d *callDelta) {
	for key := s.Object(); key != nil; key = s.Next() {
		switch string(key) {
		case "name":
			d.Function.Name = textOr(s, d.Function.Name)
		case "arguments":
			d.Function.Arguments = s.Value()
		default:
			s.Fail()
		}
	}
}

// textOr reads a string, or null, which leaves was.
func textOr(s *rawjson.Scanner, was string) string {
	if s.Peek() == 'n' {
		s.Null()
		return was
	}
	return s.Text()
}
