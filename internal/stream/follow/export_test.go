package follow

// Readers is how many follow a run at present and wait, having seen all there is of it.
func (h *Hub) Readers(runID string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[runID]
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known || len(t.waiting) < t.readers {
		return 0
	}
	return t.readers
}
