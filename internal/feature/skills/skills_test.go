package skills_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestSkills(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "lists", Test: lists}, {Name: "installs", Test: installs}, {Name: "switches", Test: switches},
		{Name: "of others", Test: ofOthers}, {Name: "edits and rolls back", Test: edits},
		{Name: "reviewed", Test: reviews}, {Name: "refusals are kept", Test: refusals},
		{Name: "exported and installed again", Test: exports}, {Name: "copied, restored and deleted", Test: kept},
		{Name: "two at once", Test: twoAtOnce}, {Name: "quota", Test: quota}, {Name: "looked at", Test: looks},
	})
}

func lists(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	f.Equal("public ones and those of before", names(f, m), "public/csv-tidy legacy/old-one public/word-count")
	f.Must(install(f, m, entry{name: "word-count/SKILL.md", content: md("word-count", "Same name as a public skill.",
		"")}))
	f.Equal("an own one hides a public one, and those of before", names(f, m), "public/csv-tidy custom/word-count")
	s, err := m.Get(f.Context(), "word-count")
	f.Must(err)
	f.Equal("path", s.Path(), "/mnt/skills/custom/word-count")
	s, err = m.Get(f.Context(), "csv-tidy")
	f.Must(err)
	f.Equal("path of a public one", s.Path(), "/mnt/skills/public/csv-tidy")
	_, err = m.Get(f.Context(), "Word-Count")
	f.Want(err, store.ErrNotFound, "")
	f.Equal("none without a folder", names(f, newSkills(f, func(s *config.SkillSettings) { s.Path = "testdata/none" }).
		For(f.Bob())), "")
}

func installs(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	r := zipped(f.T,
		entry{name: "tidy-notes/SKILL.md",
			content: "---\nname: tidy-notes\ndescription: Sort notes by date.\nlicense: MIT\nversion: \"1.2\"\nauthor: me\nallowed-tools: [read_file]\nmetadata: {a: 1}\n---\n\n# Tidy\n"},
		entry{name: "tidy-notes/scripts/run.py", content: "print(1)\n", mode: 0o755},
		entry{name: "tidy-notes/references/r.md", content: "# r\n"}, entry{name: "tidy-notes/link",
			content: "/etc/passwd", mode: fs.ModeSymlink | 0o777}, entry{name: "__MACOSX/tidy-notes/._x", content: "x"},
		entry{name: "tidy-notes/sub/"}, entry{name: ".DS_Store", content: "x"},
	)
	s, err := m.Install(f.Context(), r, r.Size(), "good.skill")
	f.Must(err)
	f.Equal("head", s.Head, skills.Head{Name: "tidy-notes", Description: "Sort notes by date.", License: "MIT",
		Version: "1.2", Author: "me", Tools: []string{"read_file"}})
	f.Equal("source", s.Source, "good.skill")
	f.Equal("scan", s.Scan.Findings[0].Rule+" "+s.Scan.Decision, "package-symlink allow")
	var b bytes.Buffer
	f.Must(m.Export(f.Context(), "tidy-notes", &b))
	f.Equal("files", strings.Join(members(f, b.Bytes()), " "),
		"tidy-notes/SKILL.md tidy-notes/references/r.md tidy-notes/scripts/run.py")
	again := install(f, m, entry{name: "SKILL.md", content: md("tidy-notes", "Again.", "")})
	f.Want(again, skills.ErrExists, "Skill 'tidy-notes' already exists")
	f.Must(install(f, m, entry{name: "SKILL.md", content: md("flat-one", "Files at the root of the archive.", "")},
		entry{name: "a.txt", content: "x"}))
	f.Reopen()
	m = newSkills(f, nil).For(f.Ann())
	f.Equal("after a restart", names(f, m), "public/csv-tidy custom/flat-one custom/tidy-notes public/word-count")
	f.Must(m.Remove(f.Context(), "tidy-notes", skills.Human(skills.HumanDelete)))
	f.Equal("removed", names(f, m), "public/csv-tidy custom/flat-one public/word-count")
	f.Want(m.Remove(f.Context(), "tidy-notes", skills.Human(skills.HumanDelete)), store.ErrNotFound, "")
	f.Want(m.Remove(f.Context(), "csv-tidy", skills.Human(skills.HumanDelete)), skills.ErrBuiltIn, "")
}

func switches(f *databases.Fixture) {
	all := newSkills(f, func(s *config.SkillSettings) { s.Switches = map[string]bool{"csv-tidy": false} })
	ann, bob := all.For(f.Ann()), all.For(f.Bob())
	f.Equal("off in the file", names(f, ann), "-public/csv-tidy legacy/old-one public/word-count")
	s, err := ann.Enable(f.Context(), "csv-tidy", true)
	f.Must(err)
	f.Equal("on", s.Enabled, true)
	_, err = ann.Enable(f.Context(), "word-count", false)
	f.Must(err)
	_, err = ann.Enable(f.Context(), "old-one", false)
	f.Must(err)
	f.Equal("a user's", names(f, ann), "public/csv-tidy -legacy/old-one -public/word-count")
	f.Equal("a public one is switched for everybody", names(f, bob),
		"public/csv-tidy legacy/old-one -public/word-count")
	_, err = ann.Enable(f.Context(), "none", false)
	f.Want(err, store.ErrNotFound, "")
}

func ofOthers(f *databases.Fixture) {
	all := newSkills(f, nil)
	ann, bob, nobody := all.For(f.Ann()), all.For(f.Bob()), all.For(access.User{})
	f.Must(install(f, ann, entry{name: "SKILL.md", content: md("hers", "Of one user.", "secret words")}))
	ctx := f.Context()
	_, err := bob.Get(ctx, "hers")
	f.Want(err, store.ErrNotFound, "")
	_, _, err = bob.Text(ctx, "hers")
	f.Want(err, store.ErrNotFound, "")
	f.Want(bob.Export(ctx, "hers", &bytes.Buffer{}), store.ErrNotFound, "")
	f.Want(bob.Remove(ctx, "hers", skills.Human(skills.HumanDelete)), store.ErrNotFound, "")
	_, err = bob.Edit(ctx, "hers", md("hers", "Taken over.", ""), skills.Human(skills.HumanEdit))
	f.Want(err, store.ErrNotFound, "")
	f.Must(install(f, bob, entry{name: "SKILL.md", content: md("hers", "Of the other.", "")}))
	s, text, err := ann.Text(ctx, "hers")
	f.Must(err)
	f.Equal("what she has", s.Description+text, "Of one user."+md("hers", "Of one user.", "secret words"))
	list, err := bob.History(ctx, "hers")
	f.Must(err)
	f.Equal("history", len(list), 0)
	_, err = nobody.List(ctx)
	f.Want(err, access.ErrNoUser, "")
	f.Want(install(f, nobody, entry{name: "SKILL.md", content: md("x", "y", "")}), access.ErrNoUser, "")
}

func edits(f *databases.Fixture) {
	ctx, m := f.Context(), newSkills(f, nil).For(f.Ann())
	first := md("notes", "First.", "# Notes")
	f.Must(install(f, m, entry{name: "SKILL.md", content: first}, entry{name: "scripts/a.py", content: "print(1)\n"}))
	_, err := m.Rollback(ctx, "notes", -1)
	f.Want(err, skills.ErrNoHistory, "")
	second, third := md("notes", "Second.", "# Notes"),
		md("notes", "Third.", "Run shell commands when needed. http://files.example.com/x")
	_, err = m.Edit(ctx, "notes", second, skills.Human(skills.HumanEdit))
	f.Must(err)
	s, err := m.Edit(ctx, "notes", third, skills.Human(skills.HumanEdit))
	f.Must(err)
	f.Equal("description", s.Description, "Third.")
	for text, want := range map[string]string{
		"x":                  "No YAML frontmatter found",
		md("other", "d", ""): "Frontmatter name 'other' must match requested skill name 'notes'.",
		md("notes", "d",
			"-----BEGIN PRIVATE KEY-----"): "Static security scan blocked skill 'notes': secret-private-key (CRITICAL) at SKILL.md:6",
		md("notes", "demo-block",
			""): "Security scan blocked the edit: The text tells the agent to send files away.",
	} {
		_, err = m.Edit(ctx, "notes", text, skills.Human(skills.HumanEdit))
		says(f, err, want)
	}
	list, err := m.History(ctx, "notes")
	f.Must(err)
	var rules []string
	for _, x := range list[1].Scan.Findings {
		rules = append(rules, x.Rule+" "+x.Where()+" "+x.Evidence)
	}
	f.Equal("history", []string{list[0].Action, *list[0].Previous, *list[1].New, strings.Join(rules, ", ")},
		[]string{skills.HumanEdit, first, third,
			"declaration-sensitive-capability SKILL.md:6 shell commands, declaration-external-endpoint SKILL.md:6 http://files.example.com/x, network-cleartext-http SKILL.md:6 http://files.example.com/"})
	s, err = m.Rollback(ctx, "notes", -1)
	f.Must(err)
	f.Equal("one back", s.Description, "Second.")
	_, err = m.Rollback(ctx, "notes", 9)
	f.Want(err, skills.ErrRange, "")
	s, err = m.Rollback(ctx, "notes", 0)
	f.Must(err)
	f.Equal("to the first", s.Description, "First.")
	_, err = m.Enable(ctx, "notes", false)
	f.Must(err)
	f.Must(m.Remove(ctx, "notes", skills.Human(skills.HumanDelete)))
	s, err = m.Rollback(ctx, "notes", -2)
	f.Must(err)
	f.Equal("brought back, and still off", []any{s.Description, s.Enabled}, []any{"Second.", false})
	list, err = m.History(ctx, "notes")
	f.Must(err)
	f.Equal("from", list[5].From, list[3].At)
}

func reviews(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	f.Must(install(f, m, entry{name: "SKILL.md", content: md("warned", "demo-warn text.", "")}))
	s, err := m.Get(f.Context(), "warned")
	f.Must(err)
	f.Equal("verdict", s.Scan.Decision+": "+s.Scan.Reason, "warn: Mentions an outside service.")
	for want, list := range map[string][]entry{
		"Security scan blocked skill 'blk': The text tells the agent to send files away.":                                     {{name: "SKILL.md", content: md("blk", "demo-block", "")}},
		"Security scan blocked skill 'gar': Security scan produced unparseable output; manual review required.":               {{name: "SKILL.md", content: md("gar", "demo-garbage", "")}},
		"Security scan rejected executable scr/scripts/a.sh: Mentions an outside service.":                                    {{name: "SKILL.md", content: md("scr", "d", "")}, {name: "scripts/a.sh", content: "echo demo-warn\n"}},
		"Security scan failed for skill 'bin': bin/references/a.md must be valid UTF-8":                                       {{name: "SKILL.md", content: md("bin", "d", "")}, {name: "references/a.md", content: "\xff"}},
		"Security scan blocked skill 'big': it has more to read than a model is asked to review: 24 files of at most 128 KiB": append(many(30), entry{name: "SKILL.md", content: md("big", "d", "")}),
	} {
		says(f, install(f, m, list...), want)
	}
	none := skills.New(skills.Config{Store: f.Store}).For(f.Ann())
	says(f, install(f, none, entry{name: "SKILL.md", content: md("unread", "d", "")}), "there is no model to review it")
	open := skills.New(skills.Config{Store: f.Store, Settings: func() config.SkillSettings {
		s := config.Default().SkillSettings()
		s.FailClosed = false
		return s
	}}).For(f.Ann())
	f.Must(install(f, open, entry{name: "SKILL.md", content: md("unread", "d", "")}))
}

// many are scripts.
func many(n int) (list []entry) {
	for i := range n {
		list = append(list, entry{name: "scripts/" + strings.Repeat("a", i+1) + ".py", content: "print(1)\n"})
	}
	return list
}

func refusals(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	_ = install(f, m, entry{name: "../evil.txt", content: "x"})
	_ = install(f, m, entry{name: "SKILL.md", content: md("blk", "demo-block", "")})
	f.Must(install(f, m, entry{name: "SKILL.md", content: md("fine", "d", "")}))
	_ = install(f, m, entry{name: "SKILL.md", content: md("fine", "d", "")}) // is there already: no refusal
	list, err := m.Refused(f.Context())
	f.Must(err)
	f.Equal("refused",
		marshal(f,
			list), `[{"source":"some.skill","skill_name":"blk","message":"Security scan blocked skill 'blk': The text tells the agent to send files away.","findings":[]},`+
			`{"source":"some.skill","skill_name":"","message":"Static security scan blocked unsafe skill archive: package-path-traversal (CRITICAL) at ../evil.txt: Archive member path traverses outside the skill root.",`+
			`"findings":[{"rule_id":"package-path-traversal","severity":"CRITICAL","file":"../evil.txt","line":null,"message":"Archive member path traverses outside the skill root.","remediation":"Remove parent-directory traversal from the package path.","evidence":"../evil.txt"}]}]`)
	for range 120 {
		_ = install(f, m, entry{name: "../evil.txt", content: "x"})
	}
	list, err = m.Refused(f.Context())
	f.Must(err)
	f.Equal("the newest are kept", len(list), 100)
}

func exports(f *databases.Fixture) {
	all := newSkills(f, nil)
	ann, bob := all.For(f.Ann()), all.For(f.Bob())
	f.Must(install(f, ann, entry{name: "x/SKILL.md", content: md("x", "d", "")},
		entry{name: "x/scripts/a.sh", content: "echo 1\n", mode: 0o755}))
	var b bytes.Buffer
	f.Must(ann.Export(f.Context(), "x", &b))
	_, err := bob.Install(f.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), "x.skill")
	f.Must(err)
	one, err := ann.Get(f.Context(), "x")
	f.Must(err)
	two, err := bob.Get(f.Context(), "x")
	f.Must(err)
	f.Equal("the same files", two.Digest, one.Digest)
}

func kept(f *databases.Fixture) {
	ctx, m := f.Context(), newSkills(f, nil).For(f.Ann())
	f.Must(install(f, m, entry{name: "SKILL.md", content: md("mine", "d", "")},
		entry{name: "data.bin", content: strings.Repeat("\x00\x01\xff", 1000)}))
	_, err := m.Edit(ctx, "mine", md("mine", "e", ""), skills.Human(skills.HumanEdit))
	f.Must(err)
	_, err = m.Enable(ctx, "mine", false)
	f.Must(err)
	var dump bytes.Buffer
	_, err = f.Store.System().Dump(ctx, &dump)
	f.Must(err)
	_, err = f.Store.System().DeleteUser(ctx, f.Ann())
	f.Must(err)
	f.Equal("deleted", names(f, m), "public/csv-tidy legacy/old-one public/word-count")
	history, err := m.History(ctx, "mine")
	f.Must(err)
	f.Equal("history is deleted", len(history), 0)
	_, err = f.Store.System().Load(ctx, &dump, nil)
	f.Must(err)
	f.Equal("restored", names(f, m), "public/csv-tidy -custom/mine public/word-count")
	f.Must(m.Export(ctx, "mine", &dump))
	f.Equal("files", strings.Join(members(f, dump.Bytes()), " "), "mine/SKILL.md mine/data.bin")
}

func twoAtOnce(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	done := make(chan error, 8)
	for range cap(done) {
		go func() { done <- install(f, m, entry{name: "SKILL.md", content: md("one", "d", "")}) }()
	}
	won := 0
	for range cap(done) {
		if err := <-done; err == nil {
			won++
		} else {
			f.Want(err, skills.ErrExists, "")
		}
	}
	f.Equal("installed", won, 1)
}

func quota(f *databases.Fixture) {
	m := newSkills(f, nil).For(f.Ann())
	for i := range skills.MaxInstalled {
		f.Must(install(f, m, entry{name: "SKILL.md", content: md("s"+strings.Repeat("a", i%50)+string(rune('a'+i/50)),
			"d", "")}))
	}
	says(f, install(f, m, entry{name: "SKILL.md", content: md("more", "d", "")}), "quota")
}
