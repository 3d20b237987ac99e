package skills_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/userdata"
)

func TestViews(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "hostile 12", Test: shows}, {Name: "runs", Test: ofRuns},
		{Name: "by processes at once", Test: showsAtOnce},
	})
}

// showsAtOnce: of processes on one data folder the first makes the copies, and the others keep them.
func showsAtOnce(f *databases.Fixture) {
	disk := userdata.New(f.TempDir())
	process := func() *skills.Skills {
		return skills.New(skills.Config{
			Store: f.Store, Ask: reviewer, View: func(u access.User) (*os.Root, error) { return disk.User(u).Skills() },
			Settings: func() config.SkillSettings {
				s := config.Default().SkillSettings()
				s.Path = "testdata/root"
				return s
			},
		})
	}
	f.Must(process().For(f.Bob()).Project(f.Context()))
	mount, err := disk.User(f.Bob()).SkillsMount()
	f.Must(err)
	first, err := os.Stat(filepath.Join(mount.Host, "public", "word-count", "SKILL.md"))
	f.Must(err)
	var work sync.WaitGroup
	for range 4 {
		all := process()
		work.Go(func() {
			for range 5 {
				if err := all.For(f.Bob()).Project(f.Context()); err != nil {
					f.Error(err)
				}
			}
		})
	}
	work.Wait()
	now, err := os.Stat(filepath.Join(mount.Host, "public", "word-count", "SKILL.md"))
	f.Must(err)
	f.Equal("the first one's copy", os.SameFile(first, now), true)
	f.Must(os.WriteFile(filepath.Join(mount.Host, "..", ".made"), []byte("{broken"), 0o600))
	f.Must(process().For(f.Bob()).Project(f.Context()))
	f.Equal("shown", shownIn(f, disk, f.Bob()),
		"legacy/old-one/SKILL.md public/csv-tidy/SKILL.md public/csv-tidy/inner/SKILL.md public/word-count/SKILL.md")
}

// shownIn are the files that threads of a user see.
func shownIn(f *databases.Fixture, disk userdata.Disk, u access.User) string {
	f.Helper()
	m, err := disk.User(u).SkillsMount()
	f.Must(err)
	var list []string
	f.Must(fs.WalkDir(os.DirFS(m.Host), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, name)
		}
		return err
	}))
	return strings.Join(list, " ")
}

// shows is item 12 of the list of hostile inputs as well: what is switched off, and what is another user's, is in no
// folder that a thread sees.
func shows(f *databases.Fixture) {
	ctx, disk, now := f.Context(), userdata.New(f.TempDir()), time.Now()
	all := skills.New(skills.Config{
		Store: f.Store, Ask: reviewer, View: func(u access.User) (*os.Root, error) { return disk.User(u).Skills() },
		Now: func() time.Time { return now },
		Settings: func() config.SkillSettings {
			s := config.Default().SkillSettings()
			s.Path = "testdata/root"
			return s
		},
	})
	ann, bob := all.For(f.Ann()), all.For(f.Bob())
	f.Must(bob.Project(ctx))
	f.Must(install(f, ann, entry{name: "SKILL.md", content: md("hers", "d", "")},
		entry{name: "scripts/a.sh", content: "echo 1\n", mode: 0o755}))
	const public = "public/csv-tidy/SKILL.md public/csv-tidy/inner/SKILL.md public/word-count/SKILL.md"
	f.Equal("hers", shownIn(f, disk, f.Ann()), "custom/hers/SKILL.md custom/hers/scripts/a.sh "+public)
	f.Equal("his", shownIn(f, disk, f.Bob()), "legacy/old-one/SKILL.md "+public)
	_, err := ann.Enable(ctx, "word-count", false)
	f.Must(err)
	f.Equal("off for her", shownIn(f, disk, f.Ann()),
		"custom/hers/SKILL.md custom/hers/scripts/a.sh public/csv-tidy/SKILL.md public/csv-tidy/inner/SKILL.md")
	f.Equal("off for him", shownIn(f, disk, f.Bob()),
		"legacy/old-one/SKILL.md public/csv-tidy/SKILL.md public/csv-tidy/inner/SKILL.md")

	mount, err := disk.User(f.Ann()).SkillsMount()
	f.Must(err)
	script := filepath.Join(mount.Host, "custom", "hers", "scripts", "a.sh")
	info, err := os.Stat(script)
	f.Must(err)
	f.Equal("can be run", info.Mode().Perm(), fs.FileMode(0o755))
	f.Must(os.WriteFile(script, []byte("echo 2\n"), 0o755))
	f.Must(os.WriteFile(filepath.Join(mount.Host, "custom", "hers", "more"), nil, 0o644))
	f.Must(os.MkdirAll(filepath.Join(mount.Host, "custom", "strange"), 0o755))
	f.Must(ann.Project(ctx))
	raw, err := os.ReadFile(script)
	f.Must(err)
	f.Equal("not looked at again within a second", string(raw), "echo 2\n")
	now = now.Add(time.Second)
	f.Must(ann.Project(ctx))
	raw, err = os.ReadFile(script)
	f.Must(err)
	f.Equal("changed by somebody, and mended", string(raw)+shownIn(f, disk, f.Ann()),
		"echo 1\ncustom/hers/SKILL.md custom/hers/scripts/a.sh public/csv-tidy/SKILL.md public/csv-tidy/inner/SKILL.md")
	f.Must(os.Remove(script))
	now = now.Add(-time.Hour)
	f.Must(ann.Project(ctx))
	_, err = os.Stat(script)
	f.Must(err) // the clock has been set back
	f.Must(os.Remove(script))
	now = now.Add(time.Second)
	f.Must(ann.Project(ctx))
	_, err = os.Stat(script)
	f.Must(err) // nothing but a file has changed

	_, err = ann.Edit(ctx, "hers", md("hers", "other", ""), skills.Human(skills.HumanEdit))
	f.Must(err)
	raw, err = os.ReadFile(filepath.Join(mount.Host, "custom", "hers", "SKILL.md"))
	f.Must(err)
	f.Equal("edited", string(raw), md("hers", "other", ""))
	f.Must(ann.Remove(ctx, "hers", skills.Human(skills.HumanDelete)))
	f.Equal("removed", strings.Contains(shownIn(f, disk, f.Ann()), "hers"), false)
	f.Must(disk.User(f.Ann()).Remove())
	_, err = os.Stat(mount.Host)
	f.Want(err, fs.ErrNotExist, "")

	f.Must(ann.Project(ctx))
	f.Equal("made anew", shownIn(f, disk, f.Ann()) != "", true) // within the same second

	broken, cancel := context.WithCancel(ctx)
	cancel()
	if err := bob.Project(broken); err == nil || !errors.Is(err, context.Canceled) {
		f.Errorf("error = %v", err)
	}
	f.Equal("what cannot be known is not shown", shownIn(f, disk, f.Bob()), "")
	f.Must(bob.Project(ctx))
	f.Equal("known again, and shown", shownIn(f, disk, f.Bob()) != "", true)

	his, err := disk.User(f.Bob()).SkillsMount()
	f.Must(err)
	inTheWay := filepath.Join(his.Host, "..", ".made-new")
	f.Must(os.Mkdir(inTheWay, 0o755))
	f.Want(bob.Project(broken), context.Canceled, "is a directory")
	f.Must(os.Remove(inTheWay))
	f.Must(bob.Project(ctx))
	f.Equal("shown though it could not be noted that nothing was", shownIn(f, disk, f.Bob()) != "", true)
}

func ofRuns(f *databases.Fixture) {
	ctx, m := f.Context(), newSkills(f, nil).For(f.Ann())
	f.Must(install(f, m, entry{name: "SKILL.md", content: md("hers", "d", "text")}))
	_, err := m.Enable(ctx, "word-count", false)
	f.Must(err)
	list, err := m.Run(nil).Available(ctx)
	f.Must(err)
	f.Equal("all that are on", len(list), 2)
	few := m.Run([]string{"hers", "word-count"})
	list, err = few.Available(ctx)
	f.Must(err)
	f.Equal("the agent's", list[0].Name, "hers")
	_, text, err := few.Text(ctx, "hers")
	f.Must(err)
	f.Equal("text", text, md("hers", "d", "text"))
	for name, why := range map[string]string{"word-count": "is switched off", "csv-tidy": "not one of this agent's",
		"none": "there is no skill"} {
		_, _, err = few.Text(ctx, name)
		f.Want(err, skills.ErrUnavailable, why)
	}
	f.Must(few.Used(ctx, "hers"))
	f.Must(few.Used(ctx, "hers"))
	s, err := m.Get(ctx, "hers")
	f.Must(err)
	f.Equal("uses", []any{s.Uses, s.UsedAt.IsZero(), s.Enabled}, []any{2, false, true})
}

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"/tidy-notes do it": "tidy-notes", "/tidy": "tidy", "/tidy\nx": "tidy", " /tidy": "", "/Tidy": "", "/a/b": "",
		"/etc/passwd": "", "/../x": "", "/help": "", "/goal x": "", "//": "", "/-a": "", "/a--b": "", "a /tidy": "",
		"": "",
	} {
		if got := skills.Named(text); got != want {
			t.Errorf("Named(%q) = %q, want %q", text, got, want)
		}
	}
	for file, want := range map[string]string{
		"/mnt/skills/public/a/SKILL.md": "a", "/mnt/skills/public/a/x.md": "", "/mnt/skillsX/public/a/SKILL.md": "",
		"/mnt/skills/a/SKILL.md": "",
	} {
		if got := skills.At(file); got != want {
			t.Errorf("At(%q) = %q, want %q", file, got, want)
		}
	}
}

// TestStarters: those that the program brings along pass its own scan, and their scripts are Python that can be read.
func TestStarters(t *testing.T) {
	heads, err := filepath.Glob("public/*/" + skills.FileName)
	if err != nil || len(heads) == 0 {
		t.Fatalf("%v %v", heads, err)
	}
	for _, at := range heads {
		dir := filepath.Dir(at)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var list []entry
			err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				raw, err := os.ReadFile(name)
				rel, _ := filepath.Rel(dir, name)
				list = append(list, entry{name: filepath.ToSlash(rel), content: string(raw)})
				if strings.HasSuffix(name, ".py") {
					if out, err := exec.CommandContext(t.Context(), "python3", "-c",
						"import ast,sys; ast.parse(open(sys.argv[1]).read())", name).CombinedOutput(); err != nil {
						t.Errorf("%s: %v: %s", name, err, out)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r := zipped(t, list...)
			report, err := skills.Scan(r, r.Size())
			if err != nil || len(report.Findings) > 0 || report.Name != filepath.Base(dir) {
				t.Errorf("%v %+v", err, report)
			}
		})
	}
}
