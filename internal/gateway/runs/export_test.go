package runs

// What the tests look at inside.
const (
	MaxBatch       = maxBatch
	MaxWarnings    = maxWarnings
	WebhookDropped = webhookDropped
)

var (
	ServerOwned = serverOwned
	ErrGone     = errGone
)

type (
	EndJSON   = endJSON
	UsageJSON = usageJSON
)
