package load

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is the toy server or the model server when the tests start this program as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "toy" {
		os.Exit(toyMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "model" {
		os.Exit(modelMain(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
