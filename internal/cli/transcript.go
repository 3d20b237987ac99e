package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/transcript"
	"github.com/pudu-ai/pudu/internal/store"
)

func transcriptCommand(app App, o *Options, stdio IO) *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "export THREAD",
		Short: "Write the conversation of a thread for people, as Markdown, JSON or a page of HTML",
		Long: "Write the conversation of a thread for people: what was said, with the calls of tools folded. The " +
			"page of HTML is one file\n" +
			"without scripts that loads nothing. pudu export, without threads, writes everything that is stored " +
			"instead.",
		Example: "  pudu threads export ID -o talk.md\n  pudu threads export ID --format html -o talk.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := transcript.Parse(format)
			if err != nil {
				return usageError("--format: %v", err)
			}
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			err = writeNew(out, stdio.Out, func(w io.Writer) error {
				return app.Reach(ctx, *o, func(c *client.Client) error { return c.Transcript(ctx, args[0], f, w) })
			})
			switch {
			case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
				return failedWith(fmt.Errorf("there is no thread %q; `pudu threads` lists them", args[0]))
			case err == nil && out != "-":
				fmt.Fprintln(stdio.Err, "Wrote "+out+".")
			}
			return failedWith(cutOff(ctx, err))
		},
	}
	cmd.Flags().StringVar(&format, "format", string(transcript.Markdown), "md, json or html")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "`FILE` to write, which must not exist; - is standard output")
	return cmd
}
