package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// withMemory has do work with the memory.
type withMemory func(cmd *cobra.Command, do func(ctx context.Context, m client.Memory) error) error

func memoryCommand(app App, o *Options, stdio IO) *cobra.Command {
	with := func(cmd *cobra.Command, do func(context.Context, client.Memory) error) error {
		err := settle(cmd, app, o, func(c *client.Client) error { return do(cmd.Context(), client.Memory{Client: c}) })
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w; `pudu memory list` lists what there is", err)
		}
		if coded, ok := errors.AsType[*codeError](err); ok {
			return coded
		}
		return failedWith(err)
	}
	cmd := &cobra.Command{
		Use: "memory", Short: "Look at what is remembered of you; add, forget, undo, export and import it",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(
		listMemory(with, stdio), searchMemory(with, stdio), addMemory(with, stdio),
		decideMemory("forget FACT", "Forget a fact, and what was made of it", with, stdio,
			func(ctx context.Context, m client.Memory, id string) (string, error) {
				n, err := m.Forget(ctx, id)
				return "Forgot " + Count(n, "fact") + ".", err
			}),
		decideMemory("accept FACT", "Keep a fact that waits for a yes", with, stdio,
			func(ctx context.Context, m client.Memory, id string) (string, error) {
				_, err := m.Accept(ctx, id)
				return "Kept the fact.", err
			}),
		decideMemory("refuse FACT", "Give up a fact that waits for a yes", with, stdio,
			func(ctx context.Context, m client.Memory, id string) (string, error) {
				_, err := m.Refuse(ctx, id)
				return "Gave up the fact.", err
			}),
		whyMemory(with, stdio), undoMemory(with, stdio), exportMemory(with, stdio), importMemory(with, stdio),
	)
	return cmd
}

func listMemory(with withMemory, stdio IO) *cobra.Command {
	var status string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the facts", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{memory.Active, memory.Proposed, memory.Gone, ""}, status) {
				return usageError("--status %q is none: it is active, proposed or gone", status)
			}
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				list, err := allFacts(ctx, m, status)
				if err == nil {
					err = printFacts(stdio, list, asJSON)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", memory.Active,
		"`STATUS`: active, proposed (waits for a yes) or gone (was replaced)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// allFacts reads page by page.
func allFacts(ctx context.Context, m client.Memory, status string) (all []memory.Fact, err error) {
	const page = 1000
	for after := ""; ; after = all[len(all)-1].ID {
		list, err := m.Facts(ctx, status, after, page)
		all = append(all, list...)
		if err != nil || len(list) < page {
			return all, err
		}
	}
}

// factLine is a fact as --json prints it.
type factLine struct {
	ID         string  `json:"id"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
	Status     string  `json:"status"`
	Agent      string  `json:"agent,omitempty"`
	Folder     string  `json:"folder,omitempty"`
	Mark       string  `json:"mark,omitempty"`
	Content    string  `json:"content"`
}

func printFacts(stdio IO, list []memory.Fact, asJSON bool) error {
	if asJSON {
		lines := make([]factLine, len(list))
		for i, f := range list {
			lines[i] = factLine{f.ID, kindOf(f), f.Confidence, f.Status, f.Agent, f.Folder, f.Mark, f.Content}
		}
		return printLines(stdio.Out, lines)
	}
	if len(list) == 0 {
		fmt.Fprintln(stdio.Err, "Nothing is remembered here. Add something with: pudu memory add WORDS")
		return nil
	}
	rows := make([][]string, len(list))
	for i, f := range list {
		rows[i] = []string{f.ID, inert.Line(kindOf(f)), fmt.Sprintf("%.2f", f.Confidence), inert.Line(f.Content)}
	}
	return printTable(stdio.Out, rows)
}

func kindOf(f memory.Fact) string {
	if f.Extension != "" {
		return f.Extension
	}
	return f.Category
}

func searchMemory(with withMemory, stdio IO) *cobra.Command {
	q := memory.Query{Status: memory.Active}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "search WORDS...", Short: "Find facts by their words", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Words = strings.Join(args, " ")
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				hits, err := m.Search(ctx, q)
				list := make([]memory.Fact, len(hits))
				for i, h := range hits {
					list[i] = h.Fact
				}
				if err == nil && len(list) == 0 && !asJSON {
					fmt.Fprintln(stdio.Err, "Nothing found.")
					return nil
				}
				if err == nil {
					err = printFacts(stdio, list, asJSON)
				}
				return err
			})
		},
	}
	limitFlag(cmd.Flags(), &q.Limit, 20, memory.MaxFound)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func addMemory(with withMemory, stdio IO) *cobra.Command {
	var f memory.Fact
	var category string
	cmd := &cobra.Command{
		Use: "add WORDS...", Short: "Add a fact and print its id", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Content = strings.Join(args, " ")
			f.SetCategory(category)
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				made, err := m.Add(ctx, f)
				if err == nil {
					fmt.Fprintln(stdio.Out, made.ID)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&category, "category", "context", "`KIND`: "+strings.Join(memory.Categories(), ", "))
	cmd.Flags().Float64Var(&f.Confidence, "confidence", 0.9, "how sure it is, 0 to 1")
	cmd.Flags().StringVar(&f.Agent, "agent", "", "only the agent with this `NAME` is told")
	cmd.Flags().StringVar(&f.Folder, "folder", "", "only threads of the folder with this `ID` are told")
	return cmd
}

func decideMemory(use, short string, with withMemory, stdio IO, do func(context.Context, client.Memory, string) (string,
	error)) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				done, err := do(ctx, m, args[0])
				if err == nil {
					fmt.Fprintln(stdio.Err, done)
				}
				return err
			})
		}}
}

func whyMemory(with withMemory, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "why RUN|THREAD", Short: "List the facts that a run, or the newest run of a thread, knew of, and why",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				list, err := m.Why(ctx, args[0])
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("there is no run and no thread %q: %w", args[0], err)
				}
				if err == nil && len(list) == 0 {
					fmt.Fprintln(stdio.Err, "It was told no fact.")
				}
				rows := make([][]string, len(list))
				for i, t := range list {
					rows[i] = []string{t.ID, t.Now, inert.Line(t.Why), inert.Line(t.Content)}
				}
				if err == nil {
					err = printTable(stdio.Out, rows)
				}
				return err
			})
		},
	}
}

func undoMemory(with withMemory, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "Take back what the last reading of a conversation changed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				_, err := m.Undo(ctx)
				if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
					return errors.New("there is nothing to take back: no conversation was read, or the last reading " +
						"was taken back already")
				}
				if err == nil {
					fmt.Fprintln(stdio.Err, "Took back the last reading.")
				}
				return err
			})
		},
	}
}

func exportMemory(with withMemory, stdio IO) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "export", Short: "Write what is remembered as a JSON document, or as DeerFlow's files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				d, err := m.Document(ctx)
				if err != nil {
					return err
				}
				if dir != "" {
					return writeMemory(dir, d)
				}
				enc := json.NewEncoder(stdio.Out)
				enc.SetIndent("", "  ")
				enc.SetEscapeHTML(false)
				return enc.Encode(d)
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write DeerFlow's files into the `FOLDER`, which is empty or new")
	return cmd
}

// writeMemory writes the files of a document into an empty folder.
func writeMemory(dir string, d memory.Document) error {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fmt.Errorf("the folder %s is not empty: name a new one", dir)
	}
	files, err := d.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		local := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(local, files[name], 0o600); err != nil {
			return err
		}
	}
	return nil
}

func importMemory(with withMemory, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE|FOLDER", Short: "Replace what is remembered by a document, or by DeerFlow's files of a user",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := readMemory(args[0])
			if err != nil {
				return usageError("%v", err)
			}
			return with(cmd, func(ctx context.Context, m client.Memory) error {
				err := m.Import(ctx, d)
				if err == nil {
					fmt.Fprintln(stdio.Err, "Imported "+Count(len(d.Facts), "fact")+".")
				}
				return err
			})
		},
	}
}

func readMemory(name string) (memory.Document, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return memory.Document{}, err
		}
		defer root.Close()
		return memory.ReadFolder(root.FS())
	}
	f, err := os.Open(name)
	if err != nil {
		return memory.Document{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, memory.MaxDocument+1))
	if err != nil {
		return memory.Document{}, err
	}
	return memory.ParseDocument(raw)
}
