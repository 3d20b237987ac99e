package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// maxHits is how many hits the command shows at most.
const maxHits = 99

func searchCommand(app App, o *Options, stdio IO) *cobra.Command {
	var q search.Query
	var thread, folder, since string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "search WORDS...", Short: "Find words in titles, messages and names of files", Args: cobra.MinimumNArgs(1),
		Long: `Find words in the titles of threads, in what was said in them, and in the names of their files.

All words must be there, without regard to case and accents; the last one need only be begun. '"red deer"' are
words that follow one another, -fox is one that must not be there (after --, as flags begin so too).`,
		Example: "  pudu search quarterly report\n  pudu search '\"red deer\"'\n  pudu search --json -- deer -fox",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			q.Words = strings.Join(args, " ")
			if q.Since, err = sinceOf(since, time.Now()); err != nil {
				return err
			}
			if thread != "" {
				q.Threads = []string{thread}
			}
			var hits []search.Hit
			more := false
			err = app.Reach(cmd.Context(), *o, func(c *client.Client) (err error) {
				hits, more, err = client.Search{Client: c}.Find(cmd.Context(), q, folder)
				return err
			})
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // nothing was said yet
			}
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("%w; `pudu folders` lists what there is", err)
			}
			if err == nil {
				err = printHits(stdio, hits, more, asJSON)
			}
			return failedWith(err)
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "only threads of the folder with this `ID`")
	cmd.Flags().StringVar(&thread, "thread", "", "only the thread with this `ID`")
	cmd.Flags().StringVar(&since, "since", "", "since a `TIME`, such as 36h (ago), 2026-03-14 or 2026-03-14T15:09:26Z")
	cmd.Flags().BoolVar(&q.Archived, "archived", false, "archived threads too")
	limitFlag(cmd.Flags(), &q.Limit, 20, maxHits)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	serverFlags(cmd.Flags(), o)
	return cmd
}

// hitLine is a hit as --json prints it.
type hitLine struct {
	Thread  string    `json:"thread"`
	Title   string    `json:"title"`
	Kind    string    `json:"kind"`
	Message string    `json:"message,omitempty"`
	Path    string    `json:"path,omitempty"`
	Role    string    `json:"role,omitempty"`
	At      time.Time `json:"at"`
	Excerpt string    `json:"excerpt"`
}

func printHits(stdio IO, hits []search.Hit, more, asJSON bool) error {
	lines := make([]hitLine, len(hits))
	for i, h := range hits {
		l := hitLine{Thread: h.ThreadID, Title: h.Title, Kind: h.Form, Role: h.Role, At: h.At}
		if h.Form == search.File {
			l.Path = h.Ref
		} else {
			l.Message = h.Ref
		}
		for _, p := range h.Excerpt {
			l.Excerpt += p.Text
		}
		lines[i] = l
	}
	if asJSON {
		return printLines(stdio.Out, lines)
	}
	if len(hits) == 0 {
		fmt.Fprintln(stdio.Err, "Nothing found.")
		return nil
	}
	paint := style{on: stdio.OutTTY && !stdio.Plain}
	for _, h := range hits {
		who := map[string]string{"human": "you", "ai": "pudu"}[h.Role]
		if who == "" {
			who = h.Form
		}
		at := h.At.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
		fmt.Fprintf(stdio.Out, "%s  %s  %s  %s\n", inert.Line(h.ThreadID), at, who, inert.Line(h.Title))
		var b strings.Builder
		for _, p := range h.Excerpt {
			if text := strings.ReplaceAll(inert.Text(p.Text), "\n", " "); p.Marked {
				b.WriteString(paint.bold(text))
			} else {
				b.WriteString(text)
			}
		}
		fmt.Fprintf(stdio.Out, "    %s\n", b.String())
	}
	if more {
		fmt.Fprintln(stdio.Err, "There is more: name more words, or a larger --limit.")
	}
	return nil
}
