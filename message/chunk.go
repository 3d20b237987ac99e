package message

// Chunk is one piece of an AI message while a provider streams it. Any field may be empty; a provider's adapter
// fills what its event carried. The order of chunks is the order of the parts.
type Chunk struct {
	Text      string
	Reasoning string
	// Signature closes the reasoning part that is being streamed; the next reasoning text starts a new part.
	Signature string
	// Redacted is a complete redacted reasoning part.
	Redacted string
	// ToolCalls are pieces of tool calls.
	ToolCalls []ToolCallChunk
	// Usage replaces what earlier chunks said about each counter that it sets (not zero).
	Usage *Usage
	// FinishReason is set once, by the chunk that ends the message, in the provider's own word.
	FinishReason string
	// Metadata is merged into the message's response_metadata, key by key.
	Metadata Fields
	// Kwargs is merged into the message's additional_kwargs, key by key.
	Kwargs Fields
}

// ToolCallChunk is a piece of one tool call. Pieces with one Index belong to one call: ID, Name and Extra are set by
// the first piece that has them, Args are joined. An adapter whose provider sends no index numbers the calls itself.
type ToolCallChunk struct {
	Index int
	ID    string
	Name  string
	Args  string
	Extra Fields
}

// maxJoined bounds what one chunk holds of several, in bytes.
const maxJoined = 4 << 10

// Join adds the next chunk of the same message to c, so that a builder makes of c what it would make of both. It
// reports false, and changes nothing, if that cannot be or c would grow beyond 4 KiB; then next comes after c.
func (c *Chunk) Join(next Chunk) bool {
	if !c.joins(&next) {
		return false
	}
	c.Text += next.Text
	c.Reasoning += next.Reasoning
	for _, tc := range next.ToolCalls {
		last := len(c.ToolCalls) - 1
		if last >= 0 && c.ToolCalls[last].Index == tc.Index && tc.ID == "" && tc.Name == "" && tc.Extra == nil {
			c.ToolCalls[last].Args += tc.Args
			continue
		}
		c.ToolCalls = append(c.ToolCalls, tc)
	}
	if next.Usage != nil {
		c.Usage = next.Usage
	}
	if next.FinishReason != "" {
		c.FinishReason = next.FinishReason
	}
	return true
}

// joins reports whether the parts of next are such that their order among those of c does not matter.
func (c *Chunk) joins(next *Chunk) bool {
	switch {
	case c.Signature != "" || c.Redacted != "" || next.Signature != "" || next.Redacted != "":
		return false
	case len(next.Metadata) > 0 || len(next.Kwargs) > 0,
		c.FinishReason != "" && next.FinishReason != "",
		c.Usage != nil && next.Usage != nil:
		return false
	case next.Reasoning != "" && (c.Text != "" || len(c.ToolCalls) > 0), next.Text != "" && len(c.ToolCalls) > 0:
		return false
	}
	return c.Size()+next.Size() <= maxJoined
}

// Size is how many bytes of text, reasoning and arguments the chunk holds.
func (c *Chunk) Size() int {
	n := len(c.Text) + len(c.Reasoning)
	for _, tc := range c.ToolCalls {
		n += len(tc.Args)
	}
	return n
}
