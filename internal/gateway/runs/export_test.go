package runs

import "github.com/pudu-ai/pudu/internal/gateway/route"

// What the tests look at inside.
const (
	MaxBatch       = maxBatch
	MaxWarnings    = maxWarnings
	WebhookDropped = webhookDropped
)

var (
	ServerOwned = serverOwned
	ErrGone     = route.ErrGone
)

type (
	EndJSON   = endJSON
	UsageJSON = usageJSON
)
