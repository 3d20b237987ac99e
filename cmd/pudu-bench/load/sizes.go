package load

import "time"

// sizes say how much is measured.
type sizes struct {
	// runs: each pair of clients and steps is measured in rounds: for window after warm, then the direct calls for
	// directWindow. The window holds many runs of each client, which begin all at once and go in step for a while. A slow
	// server gets one round of up to most, for as many runs as there are clients.
	clients, steps                   []int
	warm, window, directWindow, most time.Duration
	answer                           int // tokens of an answer
	rounds                           int // of tokens too

	// streams: so many live runs, of so many tokens. Beyond the last, twice as many as before, to maxStreams, until the
	// added delay is too much.
	streams      []int
	streamTokens int
	maxStreams   int

	longTokens int // tokens

	starts, idleThreads, liveRuns int // memory

	recoveryRuns, recoveryTokens int // recovery
}

const (
	tokenDelay = 20 * time.Millisecond
	// startGap lies between the starts of live streams: a thousand of them take a second to come in.
	startGap = time.Millisecond
	// oneTimeout bounds one run, whatever the server does.
	oneTimeout = 2 * time.Minute
)

// MaxClients bounds the clients that make runs.
const MaxClients = 10_000

func (c *Config) sizes() sizes {
	n := sizesOf(c.Quick)
	if len(c.Steps) > 0 {
		n.steps = c.Steps
	}
	if len(c.Clients) > 0 {
		n.clients = c.Clients
	}
	return n
}

func sizesOf(quick bool) sizes {
	if quick {
		return sizes{
			clients: []int{1, 64}, steps: []int{0, 5},
			warm: 100 * time.Millisecond, window: 250 * time.Millisecond, directWindow: 100 * time.Millisecond, most: 10 * time.Second, answer: 20,
			streams: []int{10, 100}, streamTokens: 60,
			longTokens: 20_000, rounds: 3,
			starts: 3, idleThreads: 200, liveRuns: 50,
			recoveryRuns: 50, recoveryTokens: 60,
		}
	}
	return sizes{
		clients: []int{1, 16, 64, 256}, steps: []int{0, 5, 20},
		warm: 500 * time.Millisecond, window: 2 * time.Second, directWindow: 800 * time.Millisecond, most: time.Minute, answer: 20,
		streams: []int{10, 50, 100, 250, 500, 1000}, streamTokens: 200, maxStreams: 8000,
		longTokens: 20_000, rounds: 3,
		starts: 5, idleThreads: 2000, liveRuns: 200,
		recoveryRuns: 50, recoveryTokens: 150,
	}
}
