package access

import (
	"errors"
	"testing"
)

func TestTheZeroUserIsNobody(t *testing.T) {
	if err := FromRow("").Check(); !errors.Is(err, ErrNoUser) || (User{}) != FromRow("") {
		t.Errorf("nobody is checked with %v", err)
	}
	if u := FromRow("ada"); u.Check() != nil || u.ID() != "ada" {
		t.Errorf("%q: %v", u.ID(), u.Check())
	}
}
