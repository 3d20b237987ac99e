package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/loadtest"
	"github.com/pudu-ai/pudu/internal/promptbench"
	"github.com/pudu-ai/pudu/internal/runs"
)

func benchCommand(o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a server, or the agent's prompts",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchServeCommand(o, stdio), benchModelCommand(stdio), benchPromptCommand(stdio))
	return cmd
}

func benchPromptCommand(stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "prompt",
		Short: "Measure what the agent's prompts cost, and how much of each request the next one repeats",
		Long: "Measure what the agent's prompts cost, and how much of each request the next one repeats, which is what a provider's\n" +
			"cache can serve. The agent and what it works with are real, in a temporary folder; the model is played, and no\n" +
			"configuration is read. The exit code is 1 if a goal is missed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := promptbench.Run(cmd.Context(), promptbench.Config{})
			if err != nil {
				return &codeError{ExitFailed, errors.New(inert.Text(err.Error()))}
			}
			r.Print(stdio.Out)
			if n := r.Missed(); n > 0 {
				return &codeError{ExitFailed, fmt.Errorf("goals missed: %d", n)}
			}
			return nil
		},
	}
}

func benchServeCommand(o *Options, stdio IO) *cobra.Command {
	var c loadtest.Config
	var headers, settings []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Put load on a server and print what it does, beside the same model calls made directly",
		Long: "Put load on a server and print what it does, beside the same model calls made directly. The model is a server on loopback\n" +
			"that comes with this command. Without --url each measurement starts a Pudu of its own on an empty data folder; --config\n" +
			"and --data are not used. A server at --url must use the model at --model-addr (any model name, any key), with the tool glob\n" +
			"or the one that --tool names. The exit code is 1 if a goal is missed that holds on every machine.\n\n" +
			"Measurements: " + strings.Join(loadtest.Groups(), ", ") + ".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.Header, err = parseHeaders(headers); err != nil {
				return err
			}
			if err := checkBench(c); err != nil {
				return err
			}
			c.Database, c.ServerConfig = o.Database, strings.Join(settings, "\n")
			c.Out = stdio.Out
			c.Note = func(text string) { fmt.Fprintln(stdio.Err, inert.Line(text)) }
			return benchServe(cmd.Context(), c, stdio)
		},
	}
	f := cmd.Flags()
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
			return nil, usageError("--header %q: write it as 'Name: value'", line)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

func checkBench(c loadtest.Config) error {
	for _, n := range c.Steps {
		if n < 0 || n > loadtest.MaxSteps {
			return usageError("--steps %d: write numbers from 0 to %d", n, loadtest.MaxSteps)
		}
	}
	for _, n := range c.Clients {
		if n < 1 || n > loadtest.MaxClients {
			return usageError("--clients %d: write numbers from 1 to %d", n, loadtest.MaxClients)
		}
	}
	if err := checkModel(c.Model); err != nil {
		return err
	}
	if c.URL == "" {
		if c.PID != 0 {
			return usageError("--pid is of a server at --url: the Pudu that is started here is known")
		}
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return usageError("--url %q: write an address such as http://127.0.0.1:2026", c.URL)
	}
	return nil
}

func benchModelCommand(stdio IO) *cobra.Command {
	var c loadtest.ModelConfig
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Be the model that the measurements of a server play, until it is stopped",
		Long: "Be the model that the measurements of a server play, until it is stopped: chat completions of OpenAI that do as the plan in\n" +
			"the user's message says, such as \"steps=5 tokens=200 delay=20ms batch=1\". `pudu bench serve` starts one by itself.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkModel(c); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context(), stdio, runs.ErrCancelled)
			defer stop()
			m, err := loadtest.StartModel(ctx, c)
			if err != nil {
				return &codeError{ExitFailed, errors.New(inert.Text(err.Error()))}
			}
			fmt.Fprintln(stdio.Err, "The model is at "+m.URL+".")
			<-ctx.Done()
			return m.Close()
		},
	}
	modelFlags(cmd, &c, "addr")
	return cmd
}

// modelFlags are the flags of the model server.
func modelFlags(cmd *cobra.Command, c *loadtest.ModelConfig, addr string) {
	f := cmd.Flags()
	f.StringVar(&c.Addr, addr, "127.0.0.1:0", "`HOST:PORT` of the model server; its base URL is http://HOST:PORT/v1")
	f.StringVar(&c.Tool, "tool", "", "`NAME` of the tool that the model calls (default: glob)")
	f.StringVar(&c.Args, "tool-args", "", "its arguments as `JSON`; %d becomes the number of the step")
}

func checkModel(c loadtest.ModelConfig) error {
	if (c.Tool == "") != (c.Args == "") {
		return usageError("--tool and --tool-args belong together: name the tool and write its arguments as a JSON object")
	}
	return nil
}

func benchServe(ctx context.Context, c loadtest.Config, stdio IO) error {
	ctx, stop := interruptible(ctx, stdio, runs.ErrCancelled)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	c.Player, c.Server = []string{program, "bench", "model"}, []string{program, "serve"}
	_, err = loadtest.Run(ctx, c)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &codeError{ExitCancelled, context.Cause(ctx)}
	}
	return &codeError{ExitFailed, errors.New(inert.Text(err.Error()))}
}
