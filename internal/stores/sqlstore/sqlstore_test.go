package sqlstore

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/store/storetest"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t)
	storetest.Run(t, func(t *testing.T, dir string) store.Store { return open(t, dir) })
}
