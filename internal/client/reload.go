package client

import (
	"context"
	"net/http"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// ReloadPath is where the socket of a data folder, and nothing else, takes the word to read the configuration again.
const ReloadPath = "/pudu/reload"

// Reloaded is the answer to it.
type Reloaded struct {
	Notes   []string `json:"notes"`   // warnings about the configuration
	Restart []string `json:"restart"` // what has changed and counts at the next start only
}

// Reload has the server read its configuration again.
func (c *Client) Reload(ctx context.Context) (notes, restart []string, err error) {
	var r Reloaded
	err = c.call(ctx, http.MethodPost, ReloadPath, nil, nil, &r)
	for _, list := range [][]string{r.Notes, r.Restart} {
		for i := range list {
			list[i] = inert.Line(list[i])
		}
	}
	return r.Notes, r.Restart, err
}
