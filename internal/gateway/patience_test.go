package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// patient is a store that notes how long a request would wait for its database.
type patient struct {
	store.Store

	waits time.Duration
}

func (p *patient) For(u access.User) store.UserData { return patientData{p.Store.For(u), p} }

type patientData struct {
	store.UserData
	p *patient
}

func (d patientData) CountThreads(ctx context.Context, f store.ThreadFilter) (int, error) {
	d.p.waits = store.Patience(ctx, time.Hour)
	return d.UserData.CountThreads(ctx, f)
}

// TestARequestWaitsAMoment for a database that is away, and no longer.
func TestARequestWaitsAMoment(t *testing.T) {
	p := &patient{}
	k := gateways.New(t, func(c *gateway.Config) { p.Store, c.Store = c.Store, p })
	k.Play([]gateways.Scenario{{Name: "count", Method: "POST", Path: "/threads/count", Status: 200}})
	if p.waits != time.Second {
		t.Errorf("it waits %v", p.waits)
	}
}
