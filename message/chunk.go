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
