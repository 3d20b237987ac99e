package summarization

import (
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/message"
)

// cuts tells before which messages the conversation can be cut, its end included: no call is parted from its results,
// and what follows does not begin with one.
func cuts(msgs []message.Message) []bool {
	type span struct{ from, to int }
	owner := make(map[string]int) // of a call id: the newest message with it
	var pairs []span
	for i := range msgs {
		m := &msgs[i]
		for _, c := range m.ToolCalls {
			owner[c.ID] = i
		}
		for _, c := range m.InvalidToolCalls {
			owner[c.ID] = i
		}
		if at, ok := owner[m.ToolCallID]; ok && m.Role == message.Tool {
			pairs = append(pairs, span{at, i})
		}
	}
	parts := make([]int, len(msgs)+2) // how many pairs begin (1) or end (-1) to be parted there
	for _, p := range pairs {
		parts[p.from+1]++
		parts[p.to+1]--
	}
	ok := make([]bool, len(msgs)+1)
	for i, open := 0, 0; i <= len(msgs); i++ {
		open += parts[i]
		ok[i] = open == 0 && (i == len(msgs) || msgs[i].Role != message.Tool)
	}
	return ok
}

// unseen is where the part begins that the model has not answered yet: with the answer whose results it waits for, or
// behind its last answer.
func unseen(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if m.Role != message.AI {
			continue
		}
		if len(m.ToolCalls)+len(m.InvalidToolCalls) > 0 {
			return i
		}
		return i + 1
	}
	return 0
}

// rescue lists the messages before the cut that are sent nevertheless: what the user said last, the day it is, and the
// text of the skill that the user's turn has named.
func rescue(msgs []message.Message, cut int) []int {
	list := append(skills.InUse(msgs), conversation.LastUser(msgs))
	day := -1
	for i := len(msgs) - 1; i >= 0 && day < 0; i-- {
		if _, ok := conversation.DateOf(msgs[i]); ok {
			day = i
		}
	}
	list = append(list, day)
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(i int) bool { return i < 0 || i >= cut })
}
