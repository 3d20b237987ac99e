package gateways

import (
	"context"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// Answered counts requests.
type Answered struct {
	Nobody

	n atomic.Int64
}

// Answered implements route.Watcher.
func (a *Answered) Answered(string, string, int, time.Duration) { a.n.Add(1) }

// Count is how many there were.
func (a *Answered) Count() int { return int(a.n.Load()) }

// Streams counts the streams that are open.
type Streams struct {
	Nobody

	Now atomic.Int64
}

// Streaming implements route.Watcher.
func (s *Streams) Streaming(change int) { s.Now.Add(int64(change)) }

// Known are named tokens.
type Known map[string]string

func (k Known) Name(token string) (string, bool) { name, ok := k[token]; return name, ok }

// Sum implements gateway.Tokens.
func (k Known) Sum(name string) ([sha256.Size]byte, bool) {
	for token, called := range k {
		if called == name {
			return sha256.Sum256([]byte(token)), true
		}
	}
	return [sha256.Size]byte{}, false
}

// Required implements gateway.Tokens.
func (Known) Required() bool { return true }

// Nobody watches.
type Nobody struct{}

// Answered implements route.Watcher.
func (Nobody) Answered(string, string, int, time.Duration) {}

// Streaming implements route.Watcher.
func (Nobody) Streaming(int) {}

// Refused implements route.Watcher.
func (Nobody) Refused() {}

// Limited implements route.Watcher.
func (Nobody) Limited(string) {}

// Counted is a store that counts how often runs are looked at.
type Counted struct {
	store.Store

	Looks atomic.Int64
}

// For implements store.Store.
func (a *Counted) For(u access.User) store.UserData { return countedData{a.Store.For(u), a} }

type countedData struct {
	store.UserData
	a *Counted
}

func (d countedData) Run(ctx context.Context, id string) (store.Run, error) {
	d.a.Looks.Add(1)
	return d.UserData.Run(ctx, id)
}

// Events are the names of frames.
func (d countedData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	d.a.Looks.Add(1)
	return d.UserData.Events(ctx, runID, after, limit)
}

// Broken is a hub with which something Happens.
type Broken struct {
	Happens func(runID string) error
	Run     store.Run
}

// Follow implements gateway.Follower.
func (b *Broken) Follow(_ context.Context, _ access.User, runID string, _ event.ID,
	_ func([]event.Event) error) (store.Run, error) {
	return b.Run, b.Happens(runID)
}
