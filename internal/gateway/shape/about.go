package shape

import "time"

// About describes the server to people.
type About struct {
	Version string
	PID     int // of the process
	Model   string
	Why     string // the model was chosen
	Sandbox string
	Notes   []string // are warnings
	Data    string   // the data folder, or the database
	Address string   // as http://HOST:PORT
	// Examples are commands that try the server; where there is a token they need PUDU_TOKEN.
	Examples []string
	// NoModel says how to add a model; empty if there is one.
	NoModel string
	Started time.Time
}
