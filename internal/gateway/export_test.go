package gateway

import (
	"context"
	"net/http"
)

// SetStopping replaces what ends the streams.
func (s *Server) SetStopping(ctx context.Context) { s.env.Stopping = ctx }

// Client is [Guard.client].
func (g Guard) Client(r *http.Request) string { return g.client(r) }
