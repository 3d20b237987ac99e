package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func agentsCommand(app App, o *Options, stdio IO) *cobra.Command {
	with := func(cmd *cobra.Command, do func(context.Context, client.Agents) error) error {
		err := withAgents(cmd, app, o, func(a client.Agents) error { return do(cmd.Context(), a) })
		if errors.Is(err, store.ErrNotFound) {
			return usageError("%v; `pudu agents` lists those that there are", err)
		}
		return failedWith(err)
	}
	cmd := &cobra.Command{
		Use: "agents", Short: "List your own agents; show, create, edit and delete one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, a client.Agents) error { return printAgents(ctx, a, stdio) })
		},
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(
		&cobra.Command{
			Use: "show NAME", Short: "Show an agent", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return with(cmd, func(ctx context.Context, a client.Agents) error {
					one, err := a.Load(ctx, args[0])
					if err == nil {
						printAgent(one, stdio)
					}
					return err
				})
			},
		},
		changeAgent("create NAME", "Make an agent; `pudu run --agent NAME` talks to it", stdio,
			func(cmd *cobra.Command, name string, c agents.Change) error {
				return with(cmd, func(ctx context.Context, a client.Agents) error { return a.Make(ctx, name, c) })
			}),
		changeAgent("edit NAME", "Change what the flags name", stdio,
			func(cmd *cobra.Command, name string, c agents.Change) error {
				return with(cmd, func(ctx context.Context, a client.Agents) error { return a.Edit(ctx, name, c) })
			}),
		&cobra.Command{
			Use: "delete NAME", Short: "Delete an agent; its threads stay", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				err := with(cmd, func(ctx context.Context, a client.Agents) error { return a.Delete(ctx, args[0]) })
				if err == nil {
					fmt.Fprintln(stdio.Err, "Deleted the agent.")
				}
				return err
			},
		},
	)
	return cmd
}

// withAgents has do work with the agents of the user and his profile.
func withAgents(cmd *cobra.Command, app App, o *Options, do func(client.Agents) error) error {
	return settle(cmd, app, o, func(c *client.Client) error { return do(client.Agents{Client: c}) })
}

// changeAgent is a command whose flags say what shall become of an agent.
func changeAgent(use, short string, stdio IO, do func(*cobra.Command, string, agents.Change) error) *cobra.Command {
	var description, model, soul, skills, tools string
	var remembers bool
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	flags := cmd.Flags()
	flags.StringVar(&description, "description", "", "what it is for, in a `SENTENCE`")
	flags.StringVar(&model, "model", "", "`NAME` of the model that it has; empty is the default")
	flags.StringVar(&soul, "soul", "", "`FILE` that says who it is and how it works; - is the standard input")
	flags.StringVar(&skills, "skills", "", "`NAMES` of the skills that it may use, with commas; all, or none")
	flags.StringVar(&tools, "tools", "", "`GROUPS` of tools that it has, with commas, such as bash; all, or none")
	flags.BoolVar(&remembers, "memory", true, "whether it is told what is remembered; --memory=false switches it off")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		set := map[string]any{}
		if flags.Changed("description") {
			set["description"] = description
		}
		if flags.Changed("model") {
			set["model"] = model
		}
		if flags.Changed("skills") {
			set["skills"] = namesIn(skills)
		}
		if flags.Changed("tools") {
			set["tool_groups"] = namesIn(tools)
		}
		if flags.Changed("memory") {
			set["memory_enabled"] = remembers
		}
		c := agents.Change{Set: &set}
		if flags.Changed("soul") {
			text, err := readText(soul, agents.MaxSoul, stdio)
			if err != nil {
				return usageError("--soul: %v", err)
			}
			c.Soul = &text
		}
		err := do(cmd, args[0], c)
		if err == nil {
			fmt.Fprintf(stdio.Err, "The agent is there. Talk to it with: %s run --agent %s \"...\"\n", stdio.program(),
				Quote(strings.ToLower(args[0])))
		}
		return err
	}
	return cmd
}

// namesIn are the names of a flag: nil for all, and a list without any for none.
func namesIn(flag string) any {
	list := []any{}
	switch flag {
	case "all":
		return nil
	case "none":
		return list
	}
	for name := range strings.SplitSeq(flag, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// readText reads a file of at most so many bytes; - and nothing are the standard input.
func readText(file string, most int64, stdio IO) (string, error) {
	in := stdio.In
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most+1))
	if int64(len(raw)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return string(raw), err
}

func printAgents(ctx context.Context, a client.Agents, stdio IO) error {
	list, err := a.List(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(stdio.Err, "No agents of your own yet. Make one with: pudu agents create NAME --soul FILE")
		return nil
	}
	rows := make([][]string, len(list))
	for i, one := range list {
		rows[i] = []string{one.Name, inert.Line(cmp.Or(one.Model, "-")), inert.Line(one.Description)}
	}
	return printTable(stdio.Out, rows)
}

func printAgent(a agents.Agent, stdio IO) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(stdio.Out, "%-12s %s\n", name, inert.Line(value))
		}
	}
	line("name", a.Name)
	line("description", a.Description)
	line("model", a.Model)
	line("effort", a.Effort)
	if a.Thinking != nil {
		line("thinking", strconv.FormatBool(*a.Thinking))
	}
	if a.Memory != nil {
		line("memory", strconv.FormatBool(*a.Memory))
	}
	if a.ToolGroups != nil {
		line("tool groups", cmp.Or(strings.Join(a.ToolGroups, ", "), "none"))
	}
	if a.Skills != nil {
		line("skills", cmp.Or(strings.Join(a.Skills, ", "), "none"))
	}
	if a.Soul != "" {
		fmt.Fprintf(stdio.Out, "\n%s\n", inert.Text(a.Soul))
	}
}

func profileCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Show what you tell all agents about yourself, and how they should answer; set or clear it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failedWith(withAgents(cmd, app, o, func(a client.Agents) error {
				text, err := a.Profile(cmd.Context())
				switch {
				case err != nil:
				case text == "":
					fmt.Fprintln(stdio.Err, "Nothing yet. Tell with: pudu profile set FILE")
				default:
					fmt.Fprintln(stdio.Out, inert.Text(text))
				}
				return err
			}))
		},
	}
	serverFlags(cmd.PersistentFlags(), o)
	set := func(cmd *cobra.Command, text string) error {
		err := withAgents(cmd, app, o, func(a client.Agents) error { return a.SetProfile(cmd.Context(), text) })
		if err == nil {
			fmt.Fprintln(stdio.Err, "Runs that begin now are told so.")
		}
		return failedWith(err)
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "set [FILE]", Short: "Replace it by a file, or by the standard input", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				text, err := readText(strings.Join(args, ""), agents.MaxProfile, stdio)
				if err != nil {
					return usageError("read the profile: %v", err)
				}
				return set(cmd, text)
			},
		},
		&cobra.Command{
			Use: "clear", Short: "Tell nothing any more", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return set(cmd, "") },
		},
	)
	return cmd
}
