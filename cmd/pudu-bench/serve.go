package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/load"
)

const freePort = "127.0.0.1:0"

func serveCommand() *cobra.Command {
	var c load.Config
	var pudu string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Put load on a server and print what it does, beside the same model calls made directly",
		Long: "Put load on a server and print what it does, beside the same model calls made directly. The model is " +
			"a server on loopback\n" +
			"that comes with this command. Without --url each measurement starts a Pudu of its own on an empty data " +
			"folder. A server\n" +
			"at --url must use the model at --model-addr (any model name, any key), and have the tool glob.\n" +
			"The exit code is 1 if a goal is missed that holds on every machine.\n\n" +
			"Measurements: " + strings.Join(load.Groups(), ", ") + ".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLoad(c); err != nil {
				return err
			}
			c.Out, c.Notes = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return serve(cmd.Context(), c, pudu)
		},
	}
	f := cmd.Flags()
	f.StringVar(&pudu, "pudu", "bin/pudu", "the program to start, a `FILE`")
	f.StringVar(&c.URL, "url", "",
		"measure the server at this `ADDRESS`, with its prefix, such as http://127.0.0.1:2026/api/langgraph")
	f.StringVar(&c.ModelAddr, "model-addr", freePort,
		"`HOST:PORT` of the model server; its base URL is http://HOST:PORT/v1")
	f.StringSliceVar(&c.Only, "only", nil, "`NAMES` of the measurements to make, with commas between")
	f.BoolVar(&c.Quick, "quick", false, "measure less of everything: about 20 s")
	f.IntSliceVar(&c.Steps, "steps", nil, "`NUMBERS` of tool steps of the runs, with commas between (default: 0,5,20)")
	f.IntSliceVar(&c.Clients, "clients", nil, "`NUMBERS` of clients that make runs (default: 1,16,64,256)")
	return cmd
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
	u, err := url.Parse(c.URL)
	if c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
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
	if err := load.Run(ctx, c); err != nil {
		return failure{err}
	}
	return nil
}

func modelCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Be the model that the measurements of a server play, until it is stopped",
		Long: "Be the model that the measurements of a server play, until it is stopped: chat completions of OpenAI " +
			"that do as the plan in\n" +
			"the user's message says, such as \"steps=5 tokens=200 delay=20ms batch=1\". `pudu-bench serve` starts " +
			"one by itself.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := load.StartModel(cmd.Context(), addr)
			if err != nil {
				return failure{err}
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The model is ready at "+m.URL+"/v1.")
			<-cmd.Context().Done()
			return m.Close()
		},
	}
	cmd.Flags().StringVar(&addr, "addr", freePort,
		"`HOST:PORT` of the model server; its base URL is http://HOST:PORT/v1")
	return cmd
}
