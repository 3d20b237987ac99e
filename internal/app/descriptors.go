package app

import (
	"fmt"
	"log/slog"
	"syscall"
)

// How many descriptors are needed, as counted in /proc/PID/fd: by a server at rest with all connections to its
// database, by a run without its sandbox (its folders, its model), and by a sandbox in which a few commands run.
const (
	restDescriptors = 32
	runDescriptors  = 6
	boxDescriptors  = 16
	// leastConnections are taken however few descriptors there are.
	leastConnections = 8
)

// shares say what the descriptors that a process may have (RLIMIT_NOFILE) are for: what does not fit waits, instead of
// failing in the middle. Where there are thousands of them they bound nothing, and the zero value of a field is its
// owner's default.
type shares struct {
	runs, boxes, connections int
}

// shareOf divides so many descriptors: at most a half for sandboxes, and of the others at most a half for runs. The
// rest is for the connections of clients.
func shareOf(descriptors int) shares {
	const mostRuns, mostBoxes = 2000, 64 // are the defaults
	left := max(descriptors-restDescriptors, 0)
	boxes := min(max(left/2/boxDescriptors, 1), mostBoxes)
	left -= boxes * boxDescriptors
	runs := min(max(min(left/2, left-leastConnections)/runDescriptors, 1), mostRuns)
	s := shares{connections: max(left-runs*runDescriptors, leastConnections)}
	if runs < mostRuns {
		s.runs = runs
	}
	if boxes < mostBoxes {
		s.boxes = boxes
	}
	return s
}

// sharesOfProcess are those of this process.
func sharesOfProcess() (shares, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return shares{}, fmt.Errorf("read the limit of descriptors: %w", err)
	}
	return shareOf(int(min(limit.Cur, 1<<30))), nil
}

// tell says that runs will wait for descriptors, if they may.
func (s shares) tell(log *slog.Logger) {
	if s.runs > 0 {
		log.Warn("there are few descriptors: runs beyond these wait until others have ended; raise the limit with "+
			"ulimit -n, or LimitNOFILE of systemd",
			"runs", s.runs, "connections", s.connections)
	}
}
