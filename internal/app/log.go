package app

import (
	"io"
	"log"
	"log/slog"
	"os"
	"strings"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
)

// logTo sends the log to w until restore is called: what this program logs, and what libraries print with the packages
// log and log/slog.
func logTo(w io.Writer, level string, asJSON bool) (restore func()) {
	before, output, flags := slog.Default(), log.Writer(), log.Flags()
	opts := &slog.HandlerOptions{Level: levelOf(level)}
	var h slog.Handler = slog.NewTextHandler(w, opts)
	if asJSON {
		h = slog.NewJSONHandler(w, opts)
	}
	slog.SetDefault(slog.New(logctx.Handler(h)))
	return func() {
		slog.SetDefault(before)
		log.SetOutput(output)
		log.SetFlags(flags)
	}
}

// levelOf is the level of the configuration's log_level: lines below it are left out.
func levelOf(name string) slog.Level {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug
	case "warning", "warn":
		return slog.LevelWarn
	case "error", "critical":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// logReady says in the log what a person is told at the start.
func logReady(s *cli.Session) {
	for _, note := range s.Notes {
		slog.Warn(note)
	}
	attrs := []any{"address", s.Address, "model", s.Model, "why", s.Why, "sandbox", s.Sandbox, "data", s.Data, "pid",
		os.Getpid()}
	if s.NoModel != nil {
		slog.Warn("there is no model", "remedy", s.NoModel)
	}
	slog.Info("ready", attrs...)
}
