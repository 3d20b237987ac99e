package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/load"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func serveCommand() *cobra.Command {
	var c load.Config
	var pudu string
	var headers, settings []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Put load on a server and print what it does, beside the same model calls made directly",
		Long: "Put load on a server and print what it does, beside the same model calls made directly. The model is a server on loopback\n" +
			"that comes with this command. Without --url each measurement starts a Pudu of its own on an empty data folder. A server\n" +
			"at --url must use the model at --model-addr (any model name, any key), with the tool glob or the one that --tool names.\n" +
			"The exit code is 1 if a goal is missed that holds on every machine.\n\n" +
			"Measurements: " + strings.Join(load.Groups(), ", ") + ".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.Header, err = parseHeaders(headers); err != nil {
				return err
			}
			if err := checkLoad(c); err != nil {
				return err
			}
			c.ServerConfig = strings.Join(settings, "\n")
			c.Out = cmd.OutOrStdout()
			c.Note = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), inert.Line(text)) }
			return serve(cmd.Context(), c, pudu)
		},
	}
	f := cmd.Flags()
	f.StringVar(&pudu, "pudu", "bin/pudu", "the program to start, a `FILE`")
	f.StringVar(&c.Database, "database", "", "PostgreSQL `URL` for the Pudu that is started, instead of SQLite (default: $PUDU_DATABASE)")
	f.StringVar(&c.URL, "url", "", "measure the server at this `ADDRESS`, with its prefix, such as http://127.0.0.1:2026/api/langgraph")
	f.IntVar(&c.PID, "pid", 0, "`PROCESS` of the server at --url, for its memory and processor time")
	f.StringVar(&c.Assistant, "assistant", "lead_agent", "`NAME` of the agent to run")
	f.StringArrayVar(&headers, "header", nil, "send `'NAME: VALUE'` with each request (repeatable)")
	modelFlags(cmd, &c.Model, "model-addr")
	f.StringArrayVar(&settings, "set", nil, "`YAML` to add to the configuration of the Pudu that is started (repeatable)")
	f.StringSliceVar(&c.Only, "only", nil, "`NAMES` of the measurements to make, with commas between")
	f.BoolVar(&c.Quick, "quick", false, "measure less of everything: about 20 s")
	f.IntSliceVar(&c.Steps, "steps", nil, "`NUMBERS` of tool steps of the runs, with commas between (default: 0,5,20)")
	f.IntSliceVar(&c.Clients, "clients", nil, "`NUMBERS` of clients that make runs (default: 1,16,64,256)")
	f.BoolVar(&c.Wait, "wait", false, "let runs be waited for (runs/wait) instead of streamed")
	f.BoolVar(&c.JSON, "json", false, "print a JSON object per line and figure")
	return cmd
}

func parseHeaders(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("--header %q: write it as 'Name: value'", line)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

func checkLoad(c load.Config) error {
	for _, n := range c.Steps {
		if n < 0 || n > load.MaxSteps {
			return fmt.Errorf("--steps %d: write numbers from 0 to %d", n, load.MaxSteps)
		}
	}
	for _, n := range c.Clients {
		if n < 1 || n > load.MaxClients {
			return fmt.Errorf("--clients %d: write numbers from 1 to %d", n, load.MaxClients)
		}
	}
	if err := checkModel(c.Model); err != nil {
		return err
	}
	if c.URL == "" {
		if c.PID != 0 {
			return errors.New("--pid is of a server at --url: the Pudu that is started here is known")
		}
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("--url %q: write an address such as http://127.0.0.1:2026", c.URL)
	}
	return nil
}

func serve(ctx context.Context, c load.Config, pudu string) error {
	program, err := os.Executable()
	if err == nil {
		pudu, err = filepath.Abs(pudu) // it is started in a folder of its own
	}
	if err != nil {
		return failure{fmt.Errorf("find the programs: %w", err)}
	}
	c.Player, c.Server = []string{program, "model"}, []string{pudu, "serve"}
	if _, err := load.Run(ctx, c); err != nil {
		return failure{err}
	}
	return nil
}
