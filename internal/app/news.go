package app

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/news"
)

// News implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) News(ctx context.Context, o cli.Options, do func(cli.News) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.News{Client: p.server}))
	}
	return p.close(do(news.NewHub(news.Config{Store: p.store}).For(access.Default())))
}
