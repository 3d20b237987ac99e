package app

import (
	"bytes"
	"encoding/json"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// TestWhatLibrariesPrintIsInTheLog, in its form and at its level.
func TestWhatLibrariesPrintIsInTheLog(t *testing.T) {
	var out bytes.Buffer
	func() {
		defer logTo(&out, "info", true)()
		log.Print("from a library")
		slog.Debug("too much")
		slog.Info("just right")
	}()
	var said []string
	for line := range strings.Lines(out.String()) {
		var fields struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		said = append(said, fields.Level+" "+fields.Msg)
	}
	if got := strings.Join(said, "; "); got != "INFO from a library; INFO just right" {
		t.Errorf("%s", got)
	}
	for name, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "": slog.LevelInfo, "warn": slog.LevelWarn,
		"warning": slog.LevelWarn, "error": slog.LevelError, "critical": slog.LevelError,
	} {
		if got := levelOf(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
