package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/load"
)

func modelCommand() *cobra.Command {
	var c load.ModelConfig
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Be the model that the measurements of a server play, until it is stopped",
		Long: "Be the model that the measurements of a server play, until it is stopped: chat completions of OpenAI that do as the plan in\n" +
			"the user's message says, such as \"steps=5 tokens=200 delay=20ms batch=1\". `pudu-bench serve` starts one by itself.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkModel(c); err != nil {
				return err
			}
			m, err := load.StartModel(cmd.Context(), c)
			if err != nil {
				return failure{err}
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The model is at "+m.URL+".")
			<-cmd.Context().Done()
			return m.Close()
		},
	}
	modelFlags(cmd, &c, "addr")
	return cmd
}

// modelFlags are the flags of the model server.
func modelFlags(cmd *cobra.Command, c *load.ModelConfig, addr string) {
	f := cmd.Flags()
	f.StringVar(&c.Addr, addr, "127.0.0.1:0", "`HOST:PORT` of the model server; its base URL is http://HOST:PORT/v1")
	f.StringVar(&c.Tool, "tool", "", "`NAME` of the tool that the model calls (default: glob)")
	f.StringVar(&c.Args, "tool-args", "", "its arguments as `JSON`; %d becomes the number of the step")
}

func checkModel(c load.ModelConfig) error {
	if (c.Tool == "") != (c.Args == "") {
		return errors.New("--tool and --tool-args belong together: name the tool and write its arguments as a JSON object")
	}
	return nil
}
