package memory

import (
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

// reading is how far a thread was read.
type reading struct {
	Thread string `json:"-"`
	// Read are the ids of the last messages that were read, in their order.
	Read []string `json:"read"`
}

// write keeps it, unless the thread is gone.
func (r *reading) write(tx database.Tx, now time.Time) error {
	body, err := json.Marshal(r)
	return exec(err, tx, "read", r.Thread, instant(now), database.Plain(string(body)))
}
