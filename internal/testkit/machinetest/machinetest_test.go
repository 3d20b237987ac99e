package machinetest

import (
	"os"
	"path/filepath"
	"testing"
)

// fake is a test that records how it ended.
type fake struct {
	testing.TB
	name, skipped, failed string
}

func (f *fake) Helper()                           {}
func (f *fake) Name() string                      { return f.name }
func (f *fake) Skip(args ...any)                  { f.skipped, _ = args[0].(string) }
func (f *fake) Fatal(...any)                      { f.failed = "fatal" }
func (f *fake) Fatalf(format string, args ...any) { f.failed = format; panic(f) }

func cannot(name string) (f *fake) {
	f = &fake{name: name}
	defer func() { _ = recover() }() // what testing.T does by ending the goroutine
	Cannot(f, "there is no moon")
	return f
}

func TestWhatCannotRunSaysSo(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv(allEnv, "")
	t.Setenv(listEnv, list)
	for _, name := range []string{"TestOne", "TestTwo"} {
		if f := cannot(name); f.skipped == "" || f.failed != "" {
			t.Errorf("%+v", f)
		}
	}
	got, err := os.ReadFile(list)
	if want := "TestOne: there is no moon\nTestTwo: there is no moon\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv(listEnv, "")
	if f := cannot("TestThree"); f.skipped == "" || f.failed != "" {
		t.Errorf("without a list: %+v", f)
	}
	t.Setenv(listEnv, filepath.Join(t.TempDir(), "none", "list"))
	if f := cannot("TestFour"); f.failed == "" {
		t.Error("a list that cannot be written is no failure")
	}
}

func TestWhereAllMustRunItFails(t *testing.T) {
	t.Setenv(allEnv, "1")
	if f := cannot("TestOne"); f.failed == "" || f.skipped != "" {
		t.Errorf("%+v", f)
	}
}
