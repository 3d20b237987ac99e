package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// withSkills has do work with the skills.
type withSkills func(cmd *cobra.Command, do func(ctx context.Context, s client.Skills) error) error

func skillsCommand(app App, o *Options, stdio IO) *cobra.Command {
	with := func(cmd *cobra.Command, do func(context.Context, client.Skills) error) error {
		err := settle(cmd, app, o, func(c *client.Client) error { return do(cmd.Context(), client.Skills{Client: c}) })
		switch {
		case errors.Is(err, store.ErrNotFound):
			err = fmt.Errorf("%w; `pudu skills list` lists what there is", err)
		case errors.Is(err, skills.ErrBuiltIn):
			err = fmt.Errorf("%w; switch it off with `pudu skills disable`", err)
		}
		return failedWith(err)
	}
	cmd := &cobra.Command{
		Use: "skills", Short: "Look at what the agent can be taught; install, scan, switch, export and remove skills",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(
		listSkills(with, stdio), installSkill(with, stdio), scanSkill(stdio),
		switchSkill("enable SKILL", "Let the agent use a skill", true, with, stdio),
		switchSkill("disable SKILL", "Keep a skill from the agent; a public one from everybody's", false, with, stdio),
		&cobra.Command{Use: "remove SKILL", Short: "Remove a skill that was installed", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return with(cmd, func(ctx context.Context, s client.Skills) error {
					err := s.Remove(ctx, args[0])
					if err == nil {
						fmt.Fprintf(stdio.Err, "Removed skill %s.\n", args[0])
					}
					return err
				})
			}},
		exportSkill(with, stdio), refusedSkills(with, stdio),
	)
	return cmd
}

// skillLine is a skill as --json prints it.
type skillLine struct {
	Name        string `json:"name"`
	Category    string `json:"category"`
	Enabled     bool   `json:"enabled"`
	Uses        int    `json:"uses"`
	Description string `json:"description"`
}

func listSkills(with withSkills, stdio IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the skills", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, s client.Skills) error {
				list, err := s.List(ctx)
				if err != nil {
					return err
				}
				return printSkills(stdio, list, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func printSkills(stdio IO, list []skills.Skill, asJSON bool) error {
	if asJSON {
		lines := make([]skillLine, len(list))
		for i, s := range list {
			lines[i] = skillLine{s.Name, s.Category, s.Enabled, s.Uses, s.Description}
		}
		return printLines(stdio.Out, lines)
	}
	if len(list) == 0 {
		fmt.Fprintln(stdio.Err, "There are no skills here. Install one with: pudu skills install FILE.skill")
		return nil
	}
	const width = 80 // characters of a description
	rows := make([][]string, len(list))
	for i, s := range list {
		on := "on"
		if !s.Enabled {
			on = "off"
		}
		rows[i] = []string{s.Name, s.Category, on, excerpt.Clip(inert.Line(s.Description), width)}
	}
	return printTable(stdio.Out, rows)
}

// withArchive opens an archive of the host.
func withArchive(name string, do func(f *os.File, size int64) error) error {
	f, err := os.Open(name)
	if err != nil {
		return usageError("%v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return usageError("%s is no file: name the .skill archive", name)
	}
	return do(f, info.Size())
}

func installSkill(with withSkills, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "install FILE", Short: "Scan and install the skill that is in an archive", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withArchive(args[0], func(f *os.File, size int64) error {
				return with(cmd, func(ctx context.Context, s client.Skills) error {
					made, err := s.Install(ctx, f, size, filepath.Base(args[0]))
					if err == nil {
						fmt.Fprintf(stdio.Err, "Installed skill %s.\n", made.Name)
					}
					return err
				})
			})
		},
	}
}

func scanSkill(stdio IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "scan FILE", Short: "Say what the scan finds in an archive, without installing it",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return withArchive(args[0], func(f *os.File, size int64) error {
				report, err := skills.Scan(f, size)
				findings := report.Findings
				if scan, ok := errors.AsType[*skills.ScanError](err); ok {
					findings = scan.Findings
				}
				if asJSON {
					return errors.Join(printLines(stdio.Out, findings), failedWith(err))
				}
				rows := make([][]string, len(findings))
				for i, f := range findings {
					rows[i] = []string{f.Severity, f.Rule, inert.Line(f.Where()), f.Message}
				}
				if printed := printTable(stdio.Out, rows); printed != nil || err != nil {
					return errors.Join(printed, failedWith(err))
				}
				fmt.Fprintf(stdio.Err, "Nothing keeps skill %s from being installed. A model reviews it then.\n",
					report.Name)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func switchSkill(use, short string, on bool, with withSkills, stdio IO) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(ctx context.Context, s client.Skills) error {
				now, err := s.Enable(ctx, args[0], on)
				if err == nil {
					fmt.Fprintf(stdio.Err, "Skill %s is %s.\n", now.Name,
						map[bool]string{true: "on", false: "off"}[now.Enabled])
				}
				return err
			})
		}}
}

func exportSkill(with withSkills, stdio IO) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "export SKILL", Short: "Write a skill that was installed as an archive", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(ctx context.Context, s client.Skills) error {
				name := to
				if name == "" {
					name = args[0] + ".skill"
				}
				f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err != nil {
					return err
				}
				if err := errors.Join(s.Export(ctx, args[0], f), f.Close()); err != nil {
					return errors.Join(err, os.Remove(name))
				}
				fmt.Fprintf(stdio.Err, "Wrote %s.\n", name)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the `FILE`, which must not be there; SKILL.skill if not given")
	return cmd
}

func refusedSkills(with withSkills, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "refused", Short: "List the archives that were not installed, and why", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, s client.Skills) error {
				list, err := s.Refused(ctx)
				rows := make([][]string, len(list))
				for i, r := range list {
					rows[i] = []string{r.At.UTC().Format(time.DateTime), inert.Line(r.Source), inert.Line(r.Why)}
				}
				if err == nil {
					err = printTable(stdio.Out, rows)
				}
				return err
			})
		},
	}
}
