package sqlstore

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Ids grow whatever the clock says, and read back as they were written.
func TestCheckpointIDsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := ""
		for _, ms := range rapid.SliceOfN(rapid.Int64Range(-5, 3), 1, 50).Draw(t, "ms") {
			var random [8]byte
			copy(random[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "random"))
			now := time.UnixMilli(1_800_000_000_000 + ms)
			id, err := nextCheckpointID(head, now, random)
			if err != nil {
				t.Fatal(err)
			}
			if id <= head {
				t.Fatalf("%s follows %s", id, head)
			}
			if id[14] != '7' || id[19] < '8' || id[19] > 'b' {
				t.Fatalf("%s is no UUID of version 7", id)
			}
			head = id
		}
	})
}

func TestCheckpointIDCarriesAndEnds(t *testing.T) {
	got, err := nextCheckpointID("01234567-89ab-7fff-bfff-ffffffffffff", time.UnixMilli(0), [8]byte{})
	if want := "01234567-89ac-7000-8000-000000000000"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	got, err = nextCheckpointID("", time.UnixMilli(0x0123456789ab), [8]byte{0xff, 1, 2, 3, 4, 5, 6, 7})
	if want := "01234567-89ab-7000-bf01-020304050607"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := nextCheckpointID("ffffffff-ffff-7fff-8000-000000000000", time.UnixMilli(0), [8]byte{}); err == nil {
		t.Error("an id followed the last one")
	}
	if got, err := nextCheckpointID("", time.Time{}, [8]byte{}); err != nil ||
		got != "00000000-0000-7000-8000-000000000000" {
		t.Errorf("at the zero time: %s, %v", got, err)
	}
}

func FuzzParseCheckpointID(f *testing.F) {
	for _, s := range []string{"", "01234567-89ab-7fff-bfff-ffffffffffff", "01234567-89AB-7fff-bfff-ffffffffffff",
		"0123456789ab7fffbfffffffffffffffffff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseCheckpointID(s)
		if err == nil && id.String() != s {
			t.Errorf("%q reads as %s", s, id)
		}
	})
}
