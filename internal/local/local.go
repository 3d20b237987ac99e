// Package local is the door between a server that holds a data folder and the pudu commands of the same user on the same
// machine: HTTP over a Unix socket in the folder, which only its owner can open.
//
//	GET  /info               what the server works with
//	POST /runs               a request and its uploads; the answer is a stream of JSON lines, one [line] each
//	POST /runs/{id}/cancel   ends a run as cancelled
//
// A client that goes away does not end its run. One that loses the stream, because it read too slowly or the server was
// restarted, reads on in the log, from which every durable event can be had.
package local

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// SocketName is the name of the socket in the data folder.
const SocketName = "pudu.sock"

// Info is what a server works with.
type Info struct {
	PID     int      `json:"pid"`
	Model   string   `json:"model"`
	Why     string   `json:"why"`
	Sandbox string   `json:"sandbox"`
	Notes   []string `json:"notes,omitempty"`
	// NoModel says that the server found no model and plays the scripted demonstration, and how to add one.
	NoModel string `json:"no_model,omitempty"`
}

// line is one line of the stream: the admitted run, then its events, at last the run at its end or what went wrong.
type line struct {
	Run   *store.Run   `json:"run,omitempty"`
	Event *event.Event `json:"event,omitempty"`
	End   *store.Run   `json:"end,omitempty"`
	Error *failure     `json:"error,omitempty"`
}

// failure is an error on its way to the client.
type failure struct {
	Message  string `json:"message"`
	Conflict bool   `json:"conflict,omitempty"` // it is [store.ErrConflict]
}

// inFolder calls do with a path of the socket that is short enough for the system, whose bound is about 100 bytes.
func inFolder(dir string, do func(path string) error) error {
	const most = 100
	if path := filepath.Join(dir, SocketName); len(path) <= most {
		return do(path)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the data folder %s has too long a name for a socket; choose a shorter one", dir)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), SocketName))
}

func dial(ctx context.Context, dir string) (conn net.Conn, err error) {
	err = inFolder(dir, func(path string) error {
		var d net.Dialer
		conn, err = d.DialContext(ctx, "unix", path)
		return err
	})
	return conn, err
}
