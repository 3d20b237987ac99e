// Package client is how pudu run works with a server: over HTTP, with the routes of the gateway. The server is one at a
// URL, or the one that holds a data folder of this machine, reached by the socket in the folder.
//
//	upload files -> start the run -> follow its log (again and again, if the connection breaks) -> its last state
//
// A client that goes away does not end its run. One that loses the connection comes back with the id of the last event
// that it has seen, also at a server that was started anew, and misses nothing.
package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/model/wire"
)

const (
	// callTimeout bounds a request that is answered at once.
	callTimeout = 30 * time.Second
	// defaultIdle bounds the silence of a log or a download. A server says something every 15 seconds.
	defaultIdle = 45 * time.Second
	// defaultPatience is how long a server that does not answer is asked again.
	defaultPatience = time.Minute
)

// Config says which server. Exactly one of URL and Dir is set.
type Config struct {
	// URL is http://HOST:PORT or https://..., with a path if the routes are below one.
	URL string
	// Token is sent as "Authorization: Bearer"; empty sends none.
	Token string
	// Dir is the data folder that the server holds. Its socket asks for no token.
	Dir string

	// Idle is the silence after which a connection counts as dead; 0 means 45 s. Patience is how long a server that
	// does not answer is asked again; 0 means a minute.
	Idle, Patience time.Duration
}

// Info is what a server works with.
type Info struct {
	Version string   `json:"version"`
	PID     int      `json:"pid"`
	Model   string   `json:"model"`
	Why     string   `json:"why"`
	Sandbox string   `json:"sandbox"`
	Notes   []string `json:"notes"`
	// NoModel says that the server has no model, and how to add one; empty if it has.
	NoModel string `json:"no_model"`
}

// Client works with one server. Its methods may be called from many goroutines.
type Client struct {
	cfg  Config
	base string // of all paths
	name string // for messages: "the server at ..."
	http *http.Client

	transport *http.Transport // of http; nil inside
	inside    *inside         // where there is no connection; else nil
	// Info is what the server works with, as it said when it was dialled.
	Info Info
}

// Dial finds the server and asks what it works with.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	c := &Client{cfg: cfg, base: "http://pudu", name: "the server of " + cfg.Dir}
	c.cfg.Idle = cmp.Or(cfg.Idle, defaultIdle)
	c.cfg.Patience = cmp.Or(cfg.Patience, defaultPatience)
	c.transport = wire.NewTransport()
	if cfg.Dir != "" {
		c.transport.Proxy, c.transport.DialContext = nil, dialer(cfg.Dir)
	} else {
		base, err := checkURL(cfg.URL)
		if err != nil {
			return nil, err
		}
		c.base, c.name = base, "the server at "+base
	}
	c.http = wire.NewHTTPClient(&http.Client{Transport: c.transport}, c.cfg.Idle)
	if err := c.get(ctx, "/info", &c.Info); err != nil {
		c.Close()
		return nil, err
	}
	c.Info.harmless()
	return c, nil
}

// checkURL returns the URL without a last slash.
func checkURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%.200q is no address of a server: write http://HOST:PORT or https://HOST", text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "",
			fmt.Errorf("the address of the server at %s has more than a host and a path; a token is given in "+
				"PUDU_TOKEN", u.Host)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// harmless takes what could play tricks on a terminal out of what the server says.
func (i *Info) harmless() {
	for _, s := range []*string{&i.Version, &i.Model, &i.Why, &i.Sandbox, &i.NoModel} {
		*s = inert.Text(*s)
	}
	for n, note := range i.Notes {
		i.Notes[n] = inert.Line(note)
	}
}

// Close gives back what the client holds.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.inside != nil {
		c.inside.working.Wait()
	}
}

// within bounds a request that is answered at once by the time that a server may take.
func (c *Client) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c.inside != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
