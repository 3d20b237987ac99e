package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

func showCommand(app App, o *Options, stdio IO) *cobra.Command {
	last := 0
	cmd := &cobra.Command{
		Use:   "show THREAD",
		Short: "Print the conversation of a thread, or the end of it",
		Long: "Print the conversation of a thread as the agent knows it: what was said, and a line for each call. " +
			"What a compaction has\n" +
			"summed up is its summary; pudu export has every step. Works beside a server.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt := *o
			opt.ReadOnly = true
			s, err := open(cmd.Context(), app, opt)
			if err != nil {
				return failedWith(err)
			}
			defer closeSession(s)
			return failedWith(showThread(cmd.Context(), s, stdio, args[0], last))
		},
	}
	cmd.Flags().IntVar(&last, "last", 0, "the last `N` messages alone; 0 is all")
	return cmd
}

func showThread(ctx context.Context, s *Session, stdio IO, id string, last int) error {
	if _, err := s.List.Thread(ctx, id); errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no thread %q; `pudu threads` lists them", id)
	} else if err != nil {
		return err
	}
	if last < 0 {
		return fmt.Errorf("--last %d is negative; say how many messages, or 0 for all", last)
	}
	page := last
	if s.Store != nil { // which is open for reading alone: pages are made when they are first read
		page = 0
	}
	msgs, err := s.API().Messages(ctx, id, page)
	if err != nil {
		return err
	}
	// who answers a form does so in a hidden message
	msgs = slices.DeleteFunc(slices.Clone(msgs), func(m message.Message) bool {
		return m.Role == message.System || conversation.Hidden(m) && !conversation.IsUser(m)
	})
	if last > 0 {
		msgs = msgs[max(0, len(msgs)-last):]
	}
	p := printer{io: stdio, look: style{on: stdio.OutTTY && !stdio.Plain}, calls: make(map[string]message.ToolCall)}
	for _, m := range msgs {
		p.print(m)
	}
	return nil
}

// printer prints a conversation.
type printer struct {
	io      IO
	look    style
	calls   map[string]message.ToolCall // by id
	section string                      // what was printed last
}

func (p *printer) print(m message.Message) {
	switch m.Role {
	case message.Human:
		for line := range strings.SplitSeq(strings.TrimSpace(inert.Text(conversation.OwnText(m))), "\n") {
			p.lines("user", p.look.bold("> "+line))
		}
	case message.AI:
		p.answer(m.Text())
		for _, c := range m.ToolCalls {
			p.calls[c.ID] = c
		}
	case message.Tool:
		p.result(m)
	}
}

// answer prints what the agent said.
func (p *printer) answer(text string) {
	text = strings.TrimSpace(inert.Text(text))
	if text == "" {
		return
	}
	if p.io.OutTTY {
		text = strings.TrimRight(markdown(text, p.io.columns(), p.io.Plain), "\n")
	}
	p.section = ""
	p.lines("agent", text)
}

// result prints a call and how its result begins. A question is shown whole.
func (p *printer) result(m message.Message) {
	if m.Name == clarification.ToolName {
		p.section = ""
		p.lines("agent", inert.Text(m.Text()))
		return
	}
	what := m.Name
	if c, ok := p.calls[m.ToolCallID]; ok {
		what = callLine(event.ToolStart{Tool: c.Name, Args: c.Args})
	}
	mark := p.look.good()
	if m.Status == message.StatusError {
		mark = p.look.bad()
	}
	room := p.io.columns() * 2 / 5
	first, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
	p.lines("calls", mark+" "+fit(what, room)+"  "+p.look.dim(clip(inert.Line(first), p.io.columns()-room-4)))
}

// lines prints lines, with an empty one before those of another kind.
func (p *printer) lines(section, text string) {
	if p.section != section {
		if len(p.calls) > 0 || p.section != "" {
			fmt.Fprintln(p.io.Out)
		}
		p.section = section
	}
	fmt.Fprintln(p.io.Out, text)
}
