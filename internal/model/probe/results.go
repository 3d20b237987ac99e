package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The secrets of the task results: the second tool wants what only the first one tells.
const (
	orderID  = "A-7731"
	trackers = "KX-92"
	mostTurn = 5
)

func orderTools() []model.Tool {
	return []model.Tool{
		{Name: "find_order", Description: "Finds the id of a customer's order.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"customer":{"type":"string"}},"required":["customer"],` +
				`"additionalProperties":false}`)},
		{Name: "track_order", Description: "Tells the tracking code of an order.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"],` +
				`"additionalProperties":false}`)},
	}
}

// orderResult plays the tools.
func orderResult(c message.ToolCall) string {
	switch {
	case c.Name == "find_order":
		return `{"order_id":"` + orderID + `"}`
	case c.Name == "track_order" && strings.Contains(string(c.Args), orderID):
		return `{"tracking_code":"` + trackers + `"}`
	case c.Name == "track_order":
		return "Error: no such order; use find_order first"
	}
	return "Error: no such tool"
}

func (p *prober) results(ctx context.Context) finding {
	req := ask("What is the tracking code of the order of the customer Lovelace? Find the order first, then track "+
		"it. Then answer with the code.", orderTools()...)
	for turn := 1; turn <= mostTurn; turn++ {
		a, err := p.call(ctx, req, shortRoom)
		if err != nil {
			f := lost(err)
			if turn > 1 && refused(err) {
				f.detail = "refuses the conversation with its own calls and their results: " + f.detail
			}
			return f
		}
		if len(a.ToolCalls) == 0 {
			return p.afterTools(&a, turn)
		}
		req.Messages = append(req.Messages, withResults(&a, turn, orderResult)...)
	}
	return fail("called tools %d times and did not answer", mostTurn)
}

func (p *prober) afterTools(a *answer, turns int) finding {
	_, problem := p.only(a, "find_order")
	switch {
	case turns == 1:
		return fail("%s", problem)
	case !strings.Contains(a.Text(), trackers):
		return fail("had the code from its tools and said %s", quote(a.Text()))
	}
	return pass("%d tools, one after the other", turns-1)
}

// withResults is an answer as the model gave it, and the results of its calls.
func withResults(a *answer, turn int, result func(message.ToolCall) string) []message.Message {
	said := a.Message
	said.ID = fmt.Sprintf("probe-%d", turn)
	msgs := []message.Message{said}
	for i, c := range said.ToolCalls {
		m := message.New(message.Tool, result(c))
		m.ID, m.Name, m.ToolCallID = fmt.Sprintf("probe-%d-%d", turn, i), c.Name, c.ID
		msgs = append(msgs, m)
	}
	for i, c := range said.InvalidToolCalls {
		m := message.New(message.Tool, "Error: the arguments are no JSON object")
		m.ID, m.Name, m.ToolCallID, m.Status = fmt.Sprintf("probe-%d-x%d", turn, i), c.Name, c.ID, message.StatusError
		msgs = append(msgs, m)
	}
	return msgs
}
