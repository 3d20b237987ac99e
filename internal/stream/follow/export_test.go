package follow

// Readers is how many follow a run at present.
func (h *Hub) Readers(runID string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[runID]
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readers
}
