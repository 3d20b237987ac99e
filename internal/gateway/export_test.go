package gateway

import "context"

// SetStopping replaces what ends the streams.
func (s *Server) SetStopping(ctx context.Context) { s.env.Stopping = ctx }
