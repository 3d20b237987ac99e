package files_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestRequestsLeaveNoFileOpen, whatever becomes of them.
func TestRequestsLeaveNoFileOpen(t *testing.T) {
	k := shelf(t, nil)
	k.Put("t", "outputs/my.skill", archiveOf(t, "my/SKILL.md"))
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	requests := func() {
		for _, path := range []string{"outputs/a.txt", "outputs/sub", "outputs/none", "outputs/my.skill/SKILL.md",
			"outputs/my.skill/none", "outputs/out.txt", "..%2f..%2fx"} {
			k.Do("GET", artifacts+path, "")
		}
		for _, text := range []string{"hello\nworld\n", "other"} {
			k.Do("PUT", artifacts+"outputs/a.txt", change(text, "hello\nworld\n"))
			k.Do("PUT", artifacts+"outputs/a.txt", change("hello\nworld\n", "other"))
		}
		k.Do("GET", "/threads/t/uploads/list", "")
		k.Upload("t", gateways.File("x.txt", "x"), gateways.File("y.txt", "y"))
		for _, name := range []string{"x.txt", "y.txt", "none", "%2e%2e"} {
			k.Do("DELETE", "/threads/t/uploads/"+name, "")
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what nobody holds
	requests()                                       // the store opens what it keeps
	before := open()
	for range 10 {
		requests()
	}
	if after := open(); after > before+4 { // the store's own may come and go
		t.Errorf("%d files are open, %d were before", after, before)
	}
}
