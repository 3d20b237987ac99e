package tokens

import (
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// What images take.
const (
	// Image is for one of the usual size; vendors count 750 to 1,600.
	Image = 1200
	// LowImage is what one takes that is sent with little detail.
	LowImage = 85
)

// What providers add to the text itself.
const (
	perTool    = 10 // the frame of a tool's description
	perMessage = 4  // role and separators
	perCall    = 10 // the frame and id of a tool call, and the id of its result
	// mostRaw bounds a block of unknown kind, such as a document in base64: what it is made of is not what is counted.
	mostRaw = 6000
)

// Message guesses the tokens that a message takes in a request, with the frame around it.
func Message(m *message.Message) int {
	n := perMessage
	if m.Name != "" && m.Role != message.Tool {
		n += 2
	}
	for i := range m.Content {
		n += part(&m.Content[i])
	}
	for i := range m.ToolCalls {
		n += perCall + Text(m.ToolCalls[i].Name) + Text(string(m.ToolCalls[i].Args))
	}
	for i := range m.InvalidToolCalls {
		n += perCall + Text(m.InvalidToolCalls[i].Name)
	}
	return n
}

// Request guesses the tokens that a request takes in all.
func Request(system string, tools []model.Tool, msgs []message.Message) int {
	return Fixed(system, tools) + Messages(msgs)
}

// Fixed guesses the tokens of what the requests of an agent have in common.
func Fixed(system string, tools []model.Tool) int {
	n := Text(system)
	for i := range tools {
		n += perTool + Text(tools[i].Name) + Text(tools[i].Description) + Text(string(tools[i].Parameters))
	}
	return n
}

// Messages is the sum of [Message].
func Messages(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		n += Message(&msgs[i])
	}
	return n
}

func part(p *message.Part) int {
	switch p.Type {
	case message.PartImage:
		if p.Detail == "low" {
			return LowImage
		}
		return Image
	case message.PartRaw:
		return min(len(p.Raw)/4, mostRaw)
	case message.PartReasoning:
		return Text(p.Text) + len(p.Redacted)/4
	}
	return Text(p.Text)
}
