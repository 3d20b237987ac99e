package anthropic

import (
	"slices"
)

// The API keeps the beginning of a prompt (tools, system, messages) up to each block that carries a mark, four at most.
// A later request reads what was kept up to one of its own marks or up to one of the 20 blocks that end there. A mark
// at the end of the conversation alone is not enough: one step with many parallel calls adds more than 20 blocks, and
// the next request would find nothing. So the last three messages of the user are marked. Every request ended with one
// of them: the last is this request, the one before it the request before, whose mark is met exactly however much has
// come since; the third helps when the request before failed and nothing of it was kept. The fourth mark, behind system
// prompt and tools, is what a new or a shortened conversation reads.

// maxMarked is how many messages can carry a mark beside the system prompt.
const maxMarked = 3

// cacheMark is the member that marks a block, with the comma before it.
func cacheMark(cfg Config) string {
	if cfg.NoCache {
		return ""
	}
	return `,"cache_control":{"type":"ephemeral"}`
}

// markMessages marks the user's last messages. The marks go in from the back, so that the earlier places stay true.
func (w *writer) markMessages() {
	left := maxMarked
	if n := w.model.cfg.CacheMessages; n > 0 {
		left = min(n, maxMarked)
	}
	for _, t := range slices.Backward(w.turns) {
		if left == 0 {
			return
		}
		if t.user && t.mark > 0 {
			w.markAt(t.mark)
			left--
		}
	}
}

// markAt marks the block whose closing brace stands at place; 0 is no place.
func (w *writer) markAt(place int) {
	if w.model.mark != "" && place > 0 {
		w.buf = slices.Insert(w.buf, place, []byte(w.model.mark)...)
	}
}
