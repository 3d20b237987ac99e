package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func newsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var asJSON, all bool
	with := func(cmd *cobra.Command, do func(client.News) error) error {
		return app.Reach(cmd.Context(), *o, func(c *client.Client) error { return do(client.News{Client: c}) })
	}
	cmd := &cobra.Command{
		Use: "news", Short: "List the threads that run, wait for you, have failed or answered since you read them",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := with(cmd, func(n client.News) error {
				list, err := n.Newest(cmd.Context(), 500)
				if err != nil {
					return err
				}
				return printNews(stdio, list, all, asJSON)
			})
			if errors.Is(err, fs.ErrNotExist) {
				err = printNews(stdio, nil, all, asJSON) // nothing was done yet
			}
			return failedWith(err)
		},
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.Flags().BoolVar(&all, "all", false, "also those that you have read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	cmd.AddCommand(&cobra.Command{
		Use: "read THREAD", Short: "Say that you have read a thread", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := with(cmd, func(n client.News) error { return n.MarkRead(cmd.Context(), args[0]) })
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("%w; `pudu threads` lists what there is", err)
			}
			return failedWith(err)
		},
	})
	return cmd
}

// printNews prints the newest first.
func printNews(stdio IO, list []news.Change, all, asJSON bool) error {
	type line struct {
		Thread  string    `json:"thread_id"`
		State   string    `json:"state"`
		Title   string    `json:"title"`
		Updated time.Time `json:"updated_at"`
	}
	lines, rows := []line{}, [][]string{}
	words := map[string]string{
		news.Running: "running", news.Waiting: "waits for you", news.Failed: "failed", news.Answered: "new answer",
		news.Read: "read",
	}
	for i := range list {
		c := list[len(list)-1-i]
		if c.Gone || c.State == news.Read && !all {
			continue
		}
		lines = append(lines, line{c.Thread, c.State, c.Title, c.UpdatedAt})
		at := c.UpdatedAt.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
		rows = append(rows, []string{c.Thread, words[c.State], at, inert.Line(c.Title)})
	}
	if asJSON {
		return printLines(stdio.Out, lines)
	}
	if len(rows) == 0 {
		fmt.Fprintln(stdio.Err, "Nothing new.")
		return nil
	}
	return printTable(stdio.Out, rows)
}
