package gateway

import (
	"fmt"
	"testing"
	"time"
)

// TestTriesOfManyAddresses: when there are too many addresses, those that are new count as one; a minute later all
// begin anew.
func TestTriesOfManyAddresses(t *testing.T) {
	var tr tries
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	for i := range maxAddresses {
		tr.wrong(fmt.Sprintf("10.%d.%d.1", i>>8, i&255), now)
	}
	for i := range maxTries {
		tr.wrong(fmt.Sprintf("192.0.2.%d", i), now)
	}
	if len(tr.count) > maxAddresses+1 {
		t.Errorf("%d addresses", len(tr.count))
	}
	for from, want := range map[string]bool{"10.0.0.1": false, "192.0.2.200": true, "@": true} {
		if got := tr.over(from, now); got != want {
			t.Errorf("%s is over: %v", from, got)
		}
	}
	later := now.Add(triesWindow)
	if tr.over("192.0.2.200", later) {
		t.Error("it does not end")
	}
	if tr.wrong("192.0.2.1", later); len(tr.count) != 1 {
		t.Errorf("%d addresses a minute later", len(tr.count))
	}
}
