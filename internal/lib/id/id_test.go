package id

import (
	"regexp"
	"testing"
	"time"
)

func TestNewIsVersion7AndSortsByTime(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a, b := New(now), New(now.Add(time.Millisecond))
	if !form.MatchString(a) || !form.MatchString(b) {
		t.Errorf("not of version 7: %s, %s", a, b)
	}
	if a >= b {
		t.Errorf("%s, made a millisecond earlier, does not sort before %s", a, b)
	}
	if a == New(now) {
		t.Error("two ids of one moment are the same")
	}
}
