package goals

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSidesTakeTurns(t *testing.T) {
	var order string
	one := func(name string, took ...time.Duration) side {
		return func(context.Context) ([]time.Duration, error) {
			order += name
			return took, nil
		}
	}
	got, err := compare(t.Context(), 2, one("a", time.Second, 9*time.Second, 2*time.Second), one("b", 4*time.Second))
	if err != nil || order != "ababab" || got[0] != 2 || got[1] != 4 {
		t.Errorf("order %s, medians %v, error %v", order, got, err)
	}
	broken := errors.New("broken")
	_, err = compare(t.Context(), 2, func(context.Context) ([]time.Duration, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
