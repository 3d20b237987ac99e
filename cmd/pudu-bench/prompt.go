package main

import (
	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/prompts"
)

func promptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prompt",
		Short: "Measure what the agent's prompts cost, and how much of each request the next one repeats",
		Long: "Measure what the agent's prompts cost, and how much of each request the next one repeats, which is " +
			"what a provider's\n" +
			"cache can serve. The agent and what it works with are real, in a temporary folder; the model is played, " +
			"and no\n" +
			"configuration is read.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := prompts.Run(cmd.Context(), prompts.Config{})
			if err != nil {
				return failure{err}
			}
			r.Print(cmd.OutOrStdout())
			return missed(r.Missed())
		},
	}
}
