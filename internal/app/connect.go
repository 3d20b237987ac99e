package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/store"
)

// Connect implements cli.App.
func (App) Connect(ctx context.Context, o cli.Options) (*cli.Session, error) {
	c, err := connect(ctx, o)
	if c == nil || err != nil {
		return nil, err
	}
	s := &cli.Session{List: c, Notes: c.Info.Notes, Close: func() error { c.Close(); return nil }}
	s.Why = fmt.Sprintf("through the server at %s, version %s", serverOf(o), c.Info.Version)
	if len(o.Mounts) > 0 {
		return nil,
			errors.Join(errors.New("--mount shows a folder of this machine, which the server does not see; give it "+
				"the files with --file"), s.Close())
	}
	if err := through(ctx, c, s, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// serverOf is the URL of the server to work with: --server, else PUDU_SERVER unless a flag names something here; empty
// if there is none.
func serverOf(o cli.Options) string {
	if o.Server == "" && o.Config == "" && o.Data == "" && o.Database == "" {
		return fromEnv("PUDU_SERVER")
	}
	return o.Server
}

// fromEnv reads a variable for a session that has no configuration of its own.
func fromEnv(name string) string { return strings.TrimSpace(config.EnvFrom(os.LookupEnv).Get(name)) }

// connect finds the server to work with; nil if none is named.
func connect(ctx context.Context, o cli.Options) (*client.Client, error) {
	url := serverOf(o)
	switch {
	case url == "" && o.Token != "":
		return nil, errors.New("--token is for a server: name it with --server URL, or in PUDU_SERVER")
	case url == "":
		return nil, nil //nolint:nilnil // to work here is no error
	case o.Config != "" || o.Data != "" || o.Database != "":
		return nil,
			errors.New("--server works with the data and the configuration of a server; leave --config, --data and " +
				"--database away")
	}
	return client.Dial(ctx, client.Config{URL: url, Token: cmp.Or(o.Token, fromEnv("PUDU_TOKEN"))})
}

// through makes a session one that works through a server.
func through(ctx context.Context, c *client.Client, s *cli.Session, o cli.Options) error {
	s.Runner, s.Questions, s.Create, s.API = c, c.Questions, c.CreateThread, func() *client.Client { return c }
	s.Model, s.Sandbox = cmp.Or(o.Model, c.Info.Model), c.Info.Sandbox
	known, err := c.Knows(ctx, s.Model)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("the server (process %d) has its own models, and %s is none of them; leave --model away "+
			"(it takes %s), "+
			"or add it to the server's configuration", c.Info.PID, s.Model, c.Info.Model)
	}
	if s.Model == config.Demo {
		s.Demo = demo()
	} else if c.Info.NoModel != "" {
		s.NoModel = noModelError{pid: c.Info.PID, how: c.Info.NoModel}
	}
	return nil
}

// noModelError is the config.ErrNoModel of a server.
type noModelError struct {
	pid int
	how string // to add one
}

func (e noModelError) Error() string {
	return fmt.Sprintf("the server (process %d) has no model: start it again when there is one. There, %s", e.pid,
		e.how)
}

// Is implements errors.Is.
func (noModelError) Is(target error) bool { return target == config.ErrNoModel }

// throughSocket is a session that works through the server which holds the data folder; store.ErrLocked if its holder
// does not listen, now.
func (a App) throughSocket(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (*cli.Session, error) {
	c, err := client.Dial(ctx, client.Config{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrLocked, err)
	}
	s, err := a.openReadOnly(ctx, cfg, dir, o)
	if err != nil {
		c.Close()
		return nil, err
	}
	closeStore := s.Close
	s.Close = func() error { c.Close(); return closeStore() }
	s.Why = fmt.Sprintf("through the server, process %d", c.Info.PID)
	err = through(ctx, c, s, o)
	if err == nil && len(o.Mounts) > 0 {
		err = fmt.Errorf("the server (process %d) that holds %s has its own mounts; leave --mount away, or name them "+
			"in its configuration", c.Info.PID, dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
