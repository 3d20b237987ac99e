package fail

import (
	"errors"
	"io/fs"
	"testing"
)

func TestTo(t *testing.T) {
	if err := To(nil, "read %q", "a"); err != nil {
		t.Errorf("without a cause: %v", err)
	}
	err := To(fs.ErrNotExist, "read %q", "100%")
	if want := `read "100%": file does not exist`; err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOr(t *testing.T) {
	if list, err := Or([]int{1}, nil, "count"); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
	if list, err := Or([]int{1}, fs.ErrExist, "count"); list != nil || !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, %v", list, err)
	}
}
