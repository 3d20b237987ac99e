package app

import (
	"context"
	"io"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/transcript"
	historyroutes "github.com/pudu-ai/pudu/internal/gateway/history"
)

// Transcript implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Transcript(ctx context.Context, o cli.Options, thread string, f transcript.Format, w io.Writer) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(p.server.Transcript(ctx, thread, f, w))
	}
	t, err := p.store.For(access.Default()).Thread(ctx, thread)
	if err == nil {
		err = historyroutes.Transcript(ctx, history.New(p.store).For(access.Default()), t, f, time.Now(), w)
	}
	return p.close(err)
}
