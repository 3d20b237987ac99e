package access

import (
	"errors"
	"testing"
)

func TestTheZeroUserIsNobody(t *testing.T) {
	if err := FromRow("").Check(); !errors.Is(err, ErrNoUser) || (User{}) != FromRow("") {
		t.Errorf("nobody is checked with %v", err)
	}
	if u := Default(); u.Check() != nil || u != FromRow(u.ID()) {
		t.Errorf("the default user: %v", u.Check())
	}
	if u := FromRow("ada"); u.Check() != nil || u.ID() != "ada" {
		t.Errorf("%q: %v", u.ID(), u.Check())
	}
}
