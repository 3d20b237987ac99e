package killtest

import (
	"context"
	"os"
	"testing"
)

// TestNothingIsLeft: the temporary folders of processes that are killed go with the test.
func TestNothingIsLeft(t *testing.T) {
	var made []string
	t.Run("work", func(t *testing.T) {
		Site{
			Before: func(int) string { return "" },
			Work: func(_ context.Context, _ string, begin func(), did func(string)) error {
				begin()
				dir, err := os.MkdirTemp("", "left-")
				did(dir)
				return err
			},
			After: func(_ int, parts []string, whole bool) {
				if whole && len(parts) != 1 {
					t.Errorf("a process has done %q", parts)
				}
				made = append(made, parts...)
			},
		}.Run(t)
	})
	if len(made) == 0 {
		t.Error("no process has made a folder")
	}
	for _, dir := range made {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}
