package skills_test

import (
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestAuthor(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{{Name: "written by an agent", Test: written},
		{Name: "refused", Test: refusesOrders}, {Name: "with secrets", Test: noSecrets}})
}

// written: an agent makes a skill and changes it; people see who did it, and can go back.
func written(f *databases.Fixture) {
	ctx, all := f.Context(), newSkills(f, nil)
	mine := all.For(f.Ann())
	run := mine.Run(nil)
	for _, c := range []struct {
		order skills.Order
		says  string
	}{
		{skills.Order{Action: "create", Content: md("tidy", "d", "one two two")},
			"Created custom skill 'tidy'. Its folder is /mnt/skills/custom/tidy."},
		{skills.Order{Action: "patch", Find: "two", Replace: "2", Count: 2},
			"Patched 'SKILL.md' of custom skill 'tidy': 2 replaced."},
		{skills.Order{Action: "write_file", File: "scripts/a.py", Content: "print(1)\n"},
			"Wrote 'scripts/a.py' of custom skill 'tidy'."},
		{skills.Order{Action: "patch", File: "scripts/a.py", Find: "1", Replace: "2"},
			"Patched 'scripts/a.py' of custom skill 'tidy': 1 replaced."},
		{skills.Order{Action: "edit", Content: md("tidy", "other", "text")}, "Updated custom skill 'tidy'."},
		{skills.Order{Action: "remove_file", File: "scripts/a.py"}, "Removed 'scripts/a.py' from custom skill 'tidy'."},
		{skills.Order{Action: "delete"}, "Deleted custom skill 'tidy'."},
	} {
		c.order.Name, c.order.Thread = "tidy", "thread1"
		says, err := run.Manage(ctx, c.order)
		f.Must(err)
		f.Equal(c.order.Action, says, c.says)
	}
	list, err := mine.History(ctx, "tidy")
	f.Must(err)
	var actions []string
	for _, e := range list {
		actions = append(actions, e.Action+" "+e.File)
		f.Equal("who", e.Author+" "+*e.Thread, "agent thread1")
	}
	f.Equal("history", strings.Join(actions, ", "),
		"create SKILL.md, patch SKILL.md, write_file scripts/a.py, patch scripts/a.py, edit SKILL.md, remove_file scripts/a.py, delete SKILL.md")
	f.Equal("whole files", *list[3].Previous+*list[3].New, "print(1)\nprint(2)\n")
	_, err = mine.Rollback(ctx, "tidy", -1)
	f.Must(err)
	_, text, err := mine.Text(ctx, "tidy")
	f.Must(err)
	f.Equal("back", text, md("tidy", "other", "text"))
	f.Equal("another user's", names(f, all.For(f.Bob())), "public/csv-tidy legacy/old-one public/word-count")
}

// noSecrets: an agent neither asks for secrets by a skill, nor changes what is done with them by one.
func noSecrets(f *databases.Fixture) {
	ctx, all := f.Context(), newSkills(f, nil)
	mine := all.For(f.Ann())
	asks := "---\nname: calls\ndescription: d\nrequired-secrets: [API_KEY]\n---\ntext"
	f.Must(install(f, mine, entry{name: "SKILL.md", content: asks}, entry{name: "scripts/a.py", content: "print(1)"}))
	f.Must(install(f, mine, entry{name: "SKILL.md", content: md("tidy", "d", "one")}))
	for _, o := range []skills.Order{
		{Action: "create", Name: "fresh", Content: strings.Replace(asks, "calls", "fresh", 1)},
		{Action: "edit", Name: "tidy", Content: strings.Replace(asks, "calls", "tidy", 1)},
		{Action: "patch", Name: "tidy", Find: "description: d", Replace: "description: d\nrequired-secrets: [A]"},
		{Action: "edit", Name: "calls", Content: md("calls", "d", "no secrets")},
		{Action: "write_file", Name: "calls", File: "scripts/a.py", Content: "print(2)"},
	} {
		if says, err := mine.Run(nil).Manage(ctx, o); err == nil || !strings.Contains(err.Error(), "declares secrets") {
			f.Errorf("%+v: %q, %v", o, says, err)
		}
	}
	// a person may
	_, err := mine.Edit(ctx, "calls", strings.Replace(asks, "text", "other", 1),
		skills.By{Action: "human_edit", Author: "ann"})
	f.Must(err)
}

// refusesOrders: what is hostile or wrong changes nothing.
func refusesOrders(f *databases.Fixture) {
	ctx, all := f.Context(), newSkills(f, nil)
	mine := all.For(f.Ann())
	f.Must(install(f, mine, entry{name: "SKILL.md", content: md("tidy", "d", "one")}))
	before, _, err := mine.Text(ctx, "tidy")
	f.Must(err)
	const key = "-----BEGIN PRIVATE KEY-----"
	for _, c := range []struct {
		order skills.Order
		says  string
	}{
		{skills.Order{Action: "create", Name: "tidy", Content: md("tidy", "d", "x")}, "Skill 'tidy' already exists"},
		{skills.Order{Action: "create", Name: "../x", Content: md("x", "d", "x")}, "should be hyphen-case"},
		{skills.Order{Action: "create", Name: "new", Content: md("old", "d", "x")}, "must match requested skill name"},
		{skills.Order{Action: "create", Name: "new", Content: md("new", "demo-block", "x")}, "send files away"},
		{skills.Order{Action: "edit", Name: "tidy", Content: md("tidy", "d", key)}, "secret-private-key (CRITICAL)"},
		{skills.Order{Action: "edit", Name: "word-count", Content: md("word-count", "d", "x")}, "is a built-in skill"},
		{skills.Order{Action: "edit", Name: "none", Content: md("none", "d", "x")}, "'none' not found"},
		{skills.Order{Action: "delete", Name: "none"}, "'none' not found"},
		{skills.Order{Action: "patch", Name: "tidy", Find: "one", Replace: key}, "secret-private-key (CRITICAL)"},
		{skills.Order{Action: "patch", Name: "tidy", Find: "one", Count: 2}, "stand 1 times"},
		{skills.Order{Action: "patch", Name: "tidy", Find: "none"}, "do not stand in 'SKILL.md'"},
		{skills.Order{Action: "patch", Name: "tidy"}, "find is empty"},
		{skills.Order{Action: "patch", Name: "tidy", Find: "one", Replace: strings.Repeat("x", skills.MaxText)},
			"would be too long"},
		{skills.Order{Action: "patch", Name: "tidy", File: "scripts/none.py", Find: "x"}, "has no file"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "SKILL.md", Content: "x"},
			"is written with the actions"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "scripts/../a.py", Content: "x"}, "must lie below"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "/etc/passwd", Content: "x"}, "must lie below"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "scripts/a/SKILL.md", Content: md("x", "d", "")},
			"is written with the actions"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "scripts/a.py", Content: "import os\nos.system('x')\n"},
			"python-shell-exec (CRITICAL)"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "assets/a.txt",
			Content: strings.Repeat("x", skills.MaxText+1)}, "is too long"},
		{skills.Order{Action: "write_file", Name: "tidy", File: "assets/a.txt", Content: "\xff"}, "valid UTF-8"},
		{skills.Order{Action: "remove_file", Name: "tidy", File: "assets/none.txt"}, "has no file"},
		{skills.Order{Action: "shout", Name: "tidy"}, "There is no action"},
	} {
		_, err := mine.Run(nil).Manage(ctx, c.order)
		says(f, err, c.says)
	}
	_, err = mine.Run([]string{"other"}).Manage(ctx, skills.Order{Action: "delete", Name: "tidy"})
	says(f, err, "only the skills that it may use: other")
	_, err = all.For(f.Bob()).Run(nil).Manage(ctx, skills.Order{Action: "delete", Name: "tidy"})
	says(f, err, "not found")
	now, _, err := mine.Text(ctx, "tidy")
	f.Must(err)
	f.Equal("unchanged", now.Digest, before.Digest)
	f.Equal("nothing new", names(f, mine), "public/csv-tidy custom/tidy public/word-count")
}

// FuzzFile: whatever an agent calls a file, what is written lies in the skill.
func FuzzFile(f *testing.F) {
	for _, s := range []string{"scripts/a.py", "../x", "scripts//a", "scripts/../a", "scripts/a\x00", "assets/" +
		strings.Repeat("x/", 300), "scripts/.git/a", "SKILL.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if skills.CheckFile(name) == nil && (strings.Contains(name, "..") && strings.Contains("/"+name+"/", "/../") ||
			strings.HasPrefix(name, "/") ||
			strings.ContainsAny(name, "\x00\\") || !strings.Contains(name, "/")) {
			t.Errorf("%q is a file of a skill", name)
		}
	})
}
