package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func toolboxCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "toolbox",
		Short: "Install Python packages for the agent: tables, charts, documents, PDF, and a Chinese font",
		Args:  cobra.NoArgs,
		Long: "Install Python packages that the agent's programs can use in the sandbox, which has no network: " +
			"tables, charts, documents,\n" +
			"PDF, and a font with Chinese characters. They lie in the data folder, are read-only in the sandbox, and " +
			"change nothing on the\n" +
			"machine. Each file is compared with a hash that this program knows.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(installToolbox(app, o, stdio), packToolbox(app, o, stdio), listToolbox(app, o, stdio),
		removeToolbox(app, o, stdio))
	return cmd
}

func installToolbox(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "install [FILE]",
		Short: "Install it for the sandbox's Python, from the network or from a file of pudu toolbox pack",
		Args:  cobra.MaximumNArgs(1),
		Long: "Install the toolbox for the Python of the sandbox: about 100 MB are downloaded, from the index that " +
			"PUDU_TOOLBOX_INDEX or\n" +
			"sandbox.toolbox_index names, else from the usual one, by the proxies of the environment. FILE is one of " +
			"pudu toolbox pack, for a machine\n" +
			"without a network. What was cut off goes on where it was. Works beside a server, whose new runs then " +
			"have it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio,
				errors.New("cancelled; what was downloaded is kept for the next time"))
			defer stop()
			box, target, err := app.Toolbox(*o)
			if err != nil {
				return failedWith(err)
			}
			var file io.Reader
			if len(args) > 0 {
				f, err := os.Open(args[0])
				if err != nil {
					return usageError("%s: %w", args[0], errors.Unwrap(err))
				}
				defer f.Close()
				file = bufio.NewReaderSize(f, 256<<10)
			}
			t, err := target(ctx)
			if err != nil {
				return cutOff(ctx, err)
			}
			v, err := box.Install(ctx, t, file, progress(stdio))
			if err != nil {
				return cutOff(ctx, err)
			}
			fmt.Fprintf(stdio.Err, "Installed for %s: %s (%s). New runs have it.\n", t, v.Name, amount(v.Bytes))
			return nil
		},
	}
}

// progress tells of each step of an installation, and of each tenth of a download.
func progress(stdio IO) func(toolbox.Progress) {
	step, tenth := "", int64(-1)
	return func(p toolbox.Progress) {
		now := int64(0)
		if p.Total > 0 {
			now = 10 * p.Done / p.Total
		}
		if p.Step == step && (now == tenth || p.Step != "download") {
			return
		}
		step, tenth = p.Step, now
		line := map[string]string{
			"download": fmt.Sprintf("downloading: %s of %s", amount(p.Done), amount(p.Total)),
			"unpack":   "unpacking", "compile": "compiling, which takes about a minute",
		}[p.Step]
		fmt.Fprintln(stdio.Err, stdio.errStyle().dim("… "+line))
	}
}

func packToolbox(app App, o *Options, stdio IO) *cobra.Command {
	var python, arch string
	cmd := &cobra.Command{
		Use: "pack FILE", Short: "Write the files for a machine without a network into one archive (.tar)",
		Args: cobra.ExactArgs(1),
		Long: "Write the files of the toolbox for a machine without a network into one archive (.tar), which pudu " +
			"toolbox install FILE\n" +
			"takes there; - is standard output. Without flags it is for the Python of the sandbox here. FILE must " +
			"not exist. The Pudu there must\n" +
			"be of the same version.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio,
				errors.New("cancelled; what was downloaded is kept for the next time"))
			defer stop()
			box, here, err := app.Toolbox(*o)
			if err != nil {
				return failedWith(err)
			}
			t, err := chosenTarget(ctx, here, python, arch)
			if err != nil {
				return cutOff(ctx, err)
			}
			err = writeNew(args[0], stdio.Out, func(w io.Writer) error { return box.Pack(ctx, t, w, progress(stdio)) })
			if err != nil {
				return cutOff(ctx, err)
			}
			fmt.Fprintf(stdio.Err, "Packed for %s. There: pudu toolbox install FILE\n", t)
			return nil
		},
	}
	cmd.Flags().StringVar(&python, "python", "",
		"`VERSION` of Python there, 3.11 to 3.14 (default: that of the sandbox here)")
	cmd.Flags().StringVar(&arch, "arch", "", "machine there, amd64 or arm64 (default: as here)")
	return cmd
}

// chosenTarget is what the flags say, and where they are silent the sandbox here.
func chosenTarget(ctx context.Context, here func(context.Context) (toolbox.Target, error), python,
	arch string) (toolbox.Target, error) {
	if python != "" {
		return toolbox.ParseTarget(python, arch)
	}
	t, err := here(ctx)
	if err != nil {
		return t, fmt.Errorf("%w (--python and --arch say it for another machine)", err)
	}
	if arch != "" {
		t.Arch = arch
	}
	return toolbox.ParseTarget(t.Python, t.Arch)
}

func listToolbox(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the versions that are installed, and their packages", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			box, _, err := app.Toolbox(*o)
			if err != nil {
				return failedWith(err)
			}
			list, err := box.List()
			if err != nil {
				return failedWith(err)
			}
			if len(list) == 0 {
				fmt.Fprintln(stdio.Err, "No toolbox is installed; `pudu toolbox install` installs it.")
			}
			for _, v := range list {
				mark := "older"
				if v.Current {
					mark = "current"
				}
				fmt.Fprintf(stdio.Out, "%s  %s  %s\n", v.Name, mark, amount(v.Bytes))
				for _, p := range v.Packages {
					fmt.Fprintf(stdio.Out, "  %s %s  %s\n", inert.Line(p.Name), inert.Line(p.Version),
						inert.Line(p.Licence))
				}
			}
			return nil
		},
	}
}

func removeToolbox(app App, o *Options, stdio IO) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "remove [VERSION]",
		Short: "Remove versions that this program would not install any more, or the one that is named",
		Args:  cobra.MaximumNArgs(1),
		Long: "Remove the versions that this program would not install any more, or the one that is named, or with " +
			"--all all of them. What a\n" +
			"Pudu that is running shows in its sandboxes stays.",
		RunE: func(_ *cobra.Command, args []string) error {
			box, _, err := app.Toolbox(*o)
			if err != nil {
				return failedWith(err)
			}
			names := append(args, "")[:1]
			if all {
				list, err := box.List()
				if err != nil {
					return failedWith(err)
				}
				names = nil
				for _, v := range list {
					names = append(names, v.Name)
				}
			}
			var gone []string
			var errs []error
			for _, name := range names {
				some, err := box.Remove(name)
				gone, errs = append(gone, some...), append(errs, err)
			}
			if len(gone) > 0 {
				fmt.Fprintln(stdio.Err, "Removed "+strings.Join(gone, ", ")+".")
			} else if errors.Join(errs...) == nil {
				fmt.Fprintln(stdio.Err, "Nothing to remove.")
			}
			return failedWith(errors.Join(errs...))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove all versions")
	return cmd
}

// standing says in a line where the toolbox stands.
func standing(s toolbox.Status) string {
	switch s.State {
	case toolbox.Installed:
		return Count(len(s.Packages), "package") + " for python3"
	case toolbox.Outdated:
		return Count(len(s.Packages), "package") +
			" for python3, of an older Pudu; `pudu toolbox install` brings the new ones"
	case toolbox.Installing:
		return "is being installed"
	case toolbox.Unavailable:
		return inert.Line(s.Why)
	}
	return "none: programs have Python's standard library alone; `pudu toolbox install` brings tables, charts, " +
		"documents and PDF"
}

// offer asks once, where a person is, whether the toolbox is to be installed in the background.
func offer(ctx context.Context, stdio IO, kit *toolbox.Kit) {
	s := kit.Status(ctx)
	if s.State != toolbox.Missing || !stdio.InTTY || !stdio.ErrTTY || kit.Declined() {
		return
	}
	fmt.Fprintf(stdio.Err,
		"Install Python packages for tables, charts, documents and PDF? %s are downloaded into the data folder, in "+
			"the\n"+
			"background; nothing else of this machine changes. [y/N] ", amount(s.Total))
	answer, err := stdio.line()
	if err != nil || ctx.Err() != nil {
		return
	}
	if !strings.HasPrefix(strings.ToLower(answer), "y") {
		fmt.Fprintln(stdio.Err, "Not now. `pudu toolbox install` does it at any time; you are not asked again.")
		err = kit.Decline()
	} else if err = kit.Begin(ctx); err == nil {
		fmt.Fprintln(stdio.Err,
			"It is being installed; runs have it when that is done. GET /toolbox tells how far it is.")
	}
	if err != nil {
		fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+inert.Line(err.Error())))
	}
}
