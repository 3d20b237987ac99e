package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/goals"
)

func goalsCommand() *cobra.Command {
	var c goals.Config
	var only, profile string
	cmd := &cobra.Command{
		Use:   "goals",
		Short: "Measure the parts of the program against their goals",
		Long: "Measure the parts of the program against their goals. Each figure stands beside its floor, which is " +
			"the work that no\n" +
			"design can avoid. docs/performance.md explains them.\n\nGroups: " + strings.Join(goals.Groups(), ", ") +
			".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if c.Only, err = regexp.Compile(only); err != nil {
				return fmt.Errorf("--only: %w", err)
			}
			if profile != "" {
				stop, err := startProfile(profile)
				if err != nil {
					return failure{err}
				}
				defer func() { err = errors.Join(err, stop()) }()
			}
			c.Out = cmd.OutOrStdout()
			n, err := goals.Measure(cmd.Context(), c)
			if err != nil {
				return failure{err}
			}
			return missed(n)
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "only", ".", "measure only the groups whose name matches the regular `EXPRESSION`")
	f.StringVar(&c.Pudu, "pudu", "bin/pudu", "the program to start, a `FILE`")
	f.StringVar(&c.Dir, "dir", "bin", "the `FOLDER` for temporary data; its file system decides what an fsync costs")
	f.StringVar(&profile, "cpuprofile", "", "write a CPU profile to the `FILE`")
	return cmd
}

// startProfile profiles until stop is called.
func startProfile(file string) (stop func() error, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
