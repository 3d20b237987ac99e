package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

func inspectCommand(app App, o *Options, stdio IO) *cobra.Command {
	var call int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "inspect ID", Short: "Show what happened in a run, and what each call of a model was sent",
		Args: cobra.ExactArgs(1),
		Long: "Show the steps of a run, by its id or by that of its thread, which means the last run: calls of " +
			"models and tools,\n" +
			"retries, compactions, questions, and what they took. With --call N: what the model was sent in the N-th " +
			"call, part\n" +
			"by part, what of it is new since the call before, and what came back. --json has all of it, word for " +
			"word.",
		Example: "  pudu runs inspect 01a214ec-9889-7d6a-b985-1e0e385bc748\n  pudu runs inspect THREAD --call 3 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("call") && call < 1 {
				return usageError("--call %d is no number of a call; the first is 1", call)
			}
			return failedWith(app.Reach(cmd.Context(), *o, func(c *client.Client) error {
				return inspect(cmd.Context(), client.Calls{Client: c}, stdio, args[0], call, asJSON)
			}))
		},
	}
	cmd.Flags().IntVar(&call, "call", 0, "the `N`-th call of the run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	serverFlags(cmd.Flags(), o)
	return cmd
}

func inspect(ctx context.Context, c client.Calls, stdio IO, id string, call int, asJSON bool) error {
	thread, run, err := c.Find(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no run, and no thread with runs, %.80q; `pudu runs --all` and `pudu threads` "+
			"list what there is", id)
	}
	if err != nil {
		return err
	}
	if call > 0 {
		one, err := c.Call(ctx, thread, run, call)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("run %s has no call %d; `pudu runs inspect %s` lists them", run, call, run)
		case err == nil && asJSON:
			return printJSON(stdio, one)
		case err == nil:
			return printCall(stdio, &one)
		}
		return err
	}
	t, err := wholeTimeline(ctx, c, thread, run)
	if err == nil && asJSON {
		return printJSON(stdio, t)
	}
	if err == nil {
		err = printTimeline(stdio, &t)
	}
	return err
}

// wholeTimeline is all pages.
func wholeTimeline(ctx context.Context, c client.Calls, thread, run string) (calls.Timeline, error) {
	t, err := c.Timeline(ctx, thread, run, "", calls.MaxSteps)
	for next := t.Next; err == nil && next != ""; {
		var more calls.Timeline
		if more, err = c.Timeline(ctx, thread, run, next, calls.MaxSteps); err == nil {
			t.Steps, next = append(t.Steps, more.Steps...), more.Next
		}
	}
	t.Next = ""
	return t, err
}

func printTimeline(stdio IO, t *calls.Timeline) error {
	rows := make([][]string, len(t.Steps))
	for i, s := range t.Steps {
		what, how := stepWords(&s)
		rows[i] = []string{"+" + span(s.At.Sub(t.Began).Milliseconds()), what, inert.Line(how)}
	}
	if err := printTable(stdio.Out, rows); err != nil {
		return err
	}
	fmt.Fprintf(stdio.Err, "Run %s of thread %s: %s, %s, %s. Models took %s, tools %s; %s%s.\n", inert.Line(t.RunID),
		inert.Line(t.ThreadID),
		inert.Line(strings.TrimSpace(t.Status+" "+t.StopReason)), Count(t.Calls, "call"), Count(t.Tools, "tool call"),
		span(t.Times.ModelMS),
		span(t.Times.ToolsMS), usageWords(&t.Usage), costWords(t.Cost))
	return nil
}

// span is a time in words.
func span(ms int64) string {
	if ms < 1000 {
		return strconv.FormatInt(max(ms, 0), 10) + "ms"
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + "s"
}

func usageWords(u *calls.Usage) string {
	text := tokens(u.Input) + " tokens in, " + tokens(u.Output) + " out"
	if u.Cached > 0 {
		text += fmt.Sprintf(", %.0f %% cached", 100*u.CachedShare)
	}
	return text
}

func costWords(all []calls.Cost) (text string) {
	for _, c := range all {
		text += fmt.Sprintf(", %.4f %s", c.Amount, c.Currency)
	}
	return text
}

// stepWords says what a step was, and how it went.
func stepWords(s *calls.Step) (what, how string) {
	switch s.Kind {
	case calls.StepAttempt:
		return "attempt " + strconv.Itoa(s.Attempt), ""
	case calls.StepCall:
		return "call " + strconv.Itoa(s.N), madeWords(s.Call)
	case calls.StepTool:
		return s.Tool.Name, toolWords(s.Tool)
	case calls.StepNotice:
		return "notice", s.Notice.Type + " " + s.Notice.Message
	case calls.StepCompaction:
		return "compaction " + strconv.Itoa(s.Compaction.Number),
			fmt.Sprintf("to about %s tokens", tokens(s.Compaction.Tokens))
	case calls.StepQuestion:
		return "question", "waits for a person " + s.Question.CallID
	case calls.StepRun:
		return "run below", s.RunID
	case calls.StepEnd:
		return "end", strings.TrimSpace(s.End.Status + " " + s.End.StopReason + " " + s.End.Error)
	}
	return s.Kind, ""
}

func madeWords(m *calls.Made) string {
	words := []string{m.Model, span(m.TookMS)}
	if m.FirstMS > 0 {
		words = append(words, "(first piece "+span(m.FirstMS)+")")
	}
	if n := len(m.Tries); n > 1 {
		words = append(words, strconv.Itoa(n)+" tries")
	}
	if m.Usage != nil {
		words = append(words, usageWords(m.Usage))
	}
	if len(m.ToolCalls) > 0 {
		words = append(words, "-> "+strings.Join(m.ToolCalls, ", "))
	}
	return strings.Join(append(words, m.Error), " ")
}

func toolWords(t *calls.Tooled) string {
	words := []string{span(t.TookMS)}
	switch {
	case t.Unfinished:
		words = []string{"unfinished"}
	case t.ExitCode != nil:
		words = append(words, "exit "+strconv.Itoa(*t.ExitCode))
	case t.Failed:
		words = append(words, "failed")
	}
	return strings.Join(append(words, t.Summary), " ")
}

// printCall prints a call for people: what it was sent by parts, and the messages that are new.
func printCall(stdio IO, c *calls.Call) error {
	fmt.Fprintf(stdio.Out, "Call %d of %d, %s (%s), began %s\n", c.N, c.Of, inert.Line(cmp.Or(c.Model, "?")),
		inert.Line(c.Provider),
		c.Began.Local().Format(time.DateTime)) //nolint:gosmopolitan // read by a person, here
	var cost []calls.Cost
	if c.Cost != nil {
		cost = []calls.Cost{*c.Cost}
	}
	fmt.Fprintf(stdio.Out, "%s%s\n", inert.Line(madeWords(&c.Made)), costWords(cost))
	for i, t := range c.Tries[:max(len(c.Tries)-1, 0)] {
		fmt.Fprintf(stdio.Out, "try %d: %s %s %s, waited %s\n", i+1, inert.Line(t.Model), span(t.TookMS),
			inert.Line(strings.TrimSpace(t.Class+" "+t.Error)), span(t.WaitMS))
	}
	rows := [][]string{}
	for _, p := range c.Parts {
		rows = append(rows, []string{p.Name, strconv.Itoa(p.Count), strconv.Itoa(p.Bytes) + " bytes",
			"~" + tokens(p.Tokens) + " tokens"})
	}
	if err := printTable(stdio.Out, rows); err != nil {
		return err
	}
	if c.New.Since > 0 {
		fmt.Fprintf(stdio.Out, "The first %s are those of call %d; new are about %s tokens:\n",
			Count(c.New.Kept, "message"), c.New.Since, tokens(c.New.Tokens))
	}
	for _, raw := range c.Request.Messages[min(c.New.Kept, len(c.Request.Messages)):] {
		fmt.Fprintln(stdio.Out, clip(messageLine(raw), 160))
	}
	if string(c.Answer) != "null" {
		fmt.Fprintln(stdio.Out, clip("-> "+messageLine(c.Answer), 160))
	}
	if c.Request.Note != "" {
		fmt.Fprintln(stdio.Err, "Note: "+inert.Line(c.Request.Note)+".")
	}
	return nil
}

// messageLine is a message in a line.
func messageLine(raw json.RawMessage) string {
	var m message.Message
	if json.Unmarshal(raw, &m) != nil {
		return inert.Line(string(raw))
	}
	line := string(m.Role)
	if m.Name != "" {
		line += " " + m.Name
	}
	line += ": " + m.Text()
	for _, c := range m.ToolCalls {
		line += " [" + c.Name + " " + string(c.Args) + "]"
	}
	return inert.Line(line)
}
