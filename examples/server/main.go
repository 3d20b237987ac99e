// Command server is the whole server of Pudu inside a program that has routes of its own: at /agent/ below the
// program's own authentication, for every client of the LangGraph API.
package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/pudu-ai/pudu"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	p, err := pudu.Open(ctx, pudu.Options{
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		Server: pudu.Server{Open: true}, // whoever comes through known below may call
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Hello.\n")) })
	routes.Handle("/agent/", known(http.StripPrefix("/agent", p.Handler())))
	return serve(ctx, routes)
}

// known lets in who knows the password: the place of the program's own authentication.
func known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != os.Getenv("EXAMPLE_PASSWORD") {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve answers until ctx ends, and then lets requests under way come to their end.
func serve(ctx context.Context, routes http.Handler) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	log.Printf("ready at http://%s", l.Addr())
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(bounded); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // streams are open, which end with Pudu's Close
}
