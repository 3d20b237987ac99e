package toolmeta

import (
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// Newest returns the results that the last step brought, in call order, and the AI message that asked for them: what a
// hook before the model's next call looks at. Hidden notes may follow the results; anything else that does, such as a
// user's new question, means that there are none.
func Newest(msgs []message.Message) (asked message.Message, results []message.Message) {
	end := len(msgs)
	for end > 0 && msgs[end-1].Role == message.Human && !conversation.IsUser(msgs[end-1]) {
		end--
	}
	from := end
	for from > 0 && msgs[from-1].Role == message.Tool {
		from--
	}
	if from == end || from == 0 || msgs[from-1].Role != message.AI {
		return message.Message{}, nil
	}
	return msgs[from-1], msgs[from:end]
}
