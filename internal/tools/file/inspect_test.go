//go:build unix

package file

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/tool"
)

func TestInspect(t *testing.T) {
	th := newThread(t, Config{})
	th.put("a.txt", "one two two")
	th.put("empty", "")
	for _, tt := range []struct {
		name, tool string
		in         args
		want, not  string
	}{
		{"written", "write_file", args{"path": "a.txt", "content": "one two two"},
			"a.txt has 11 bytes now and was last changed at 20", "not hold"},
		{"written, said so", "write_file", args{"path": "a.txt", "content": "one two two"}, "the call was completed",
			""},
		{"nothing written", "write_file", args{"path": "empty", "content": ""}, "the call was completed", ""},
		{"not written", "write_file", args{"path": "a.txt", "content": "two"}, "It does not hold the text of this call",
			"completed"},
		{"no file", "write_file", args{"path": "none.txt", "content": "x"}, "There is no file none.txt now.", "hold"},
		{"added", "write_file", args{"path": "a.txt", "content": "two", "append": true},
			"It ends with the text of this call", "not end"},
		{"not added", "write_file", args{"path": "a.txt", "content": "three", "append": true},
			"a part may have been added", "It ends"},
		{"replaced", "str_replace", args{"path": "a.txt", "old_str": "three", "new_str": "two"},
			"old_str is in it 0 time(s), new_str 2 time(s).", ""},
		{"taken out", "str_replace", args{"path": "a.txt", "old_str": "three", "new_str": ""},
			"old_str is in it 0 time(s).", "new_str"},
		{"outside", "str_replace", args{"path": "/etc/passwd", "old_str": "root", "new_str": ""}, "cannot be looked at",
			"old_str"},
		{"folder", "write_file", args{"path": "/mnt/user-data/workspace", "content": "x"}, "was last changed at",
			"hold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["description"] = "test"
			raw, _ := json.Marshal(tt.in)
			got := th.tools[tt.tool].(tool.Inspector).Inspect(t.Context(), &tool.Call{Args: raw})
			if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) ||
				strings.Contains(got, th.host) {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := th.tools["write_file"].(tool.Inspector).
		Inspect(t.Context(), &tool.Call{Args: json.RawMessage("7")}); got != "" {
		t.Errorf("impossible arguments: %q", got)
	}
	if got := th.run("ls", args{"path": "."}).Text(); !strings.HasSuffix(got, "a.txt\n/mnt/user-data/workspace/empty") {
		t.Errorf("looking changed something: %s", got)
	}
}
