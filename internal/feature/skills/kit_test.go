package skills_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/testkit/ziptest"
)

// entry is a member of an archive.
type entry struct {
	name, content string
	mode          fs.FileMode
	// zeros is how many MiB of them it has in place of a content, and says how many bytes its header claims; 0: as
	// many.
	zeros, says int
}

// md is a SKILL.md.
func md(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n" + body + "\n"
}

// zipped makes an archive.
func zipped(t testing.TB, list ...entry) *bytes.Reader {
	t.Helper()
	members := make([]ziptest.Member, len(list))
	for i, e := range list {
		members[i] = ziptest.Member{Name: e.name, Content: e.content, Mode: e.mode, Zeros: e.zeros, Says: e.says}
	}
	return bytes.NewReader(ziptest.Archive(t, members...))
}

// reviewer answers as the texts of the recordings want it.
func reviewer(_ context.Context, _, text string) (string, error) {
	switch {
	case strings.Contains(text, "demo-garbage"):
		return "I think it is fine.", nil
	case strings.Contains(text, "demo-block"):
		return `{"decision":"block","reason":"The text tells the agent to send files away."}`, nil
	case strings.Contains(text, "demo-warn"):
		return "```json\n" + `{"decision":"warn","reason":"Mentions an outside service."}` + "\n```", nil
	}
	return `{"decision":"allow","reason":"Plain instructions."}`, nil
}

// newSkills are those of a store, with a clock that goes on by a second.
func newSkills(f *databases.Fixture, change func(*config.SkillSettings)) *skills.Skills {
	began := time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)
	var looks atomic.Int64
	return skills.New(skills.Config{
		Store: f.Store, Ask: reviewer,
		Now: func() time.Time { return began.Add(time.Duration(looks.Add(1)) * time.Second) },
		Settings: func() config.SkillSettings {
			s := config.Default().SkillSettings()
			s.Path = "testdata/root"
			if change != nil {
				change(&s)
			}
			return s
		},
	})
}

// install installs an archive of the members.
func install(f *databases.Fixture, m *skills.Mine, list ...entry) error {
	f.Helper()
	r := zipped(f.T, list...)
	_, err := m.Install(f.Context(), r, r.Size(), "some.skill")
	return err
}

// names are those of the skills, with a minus before those that are off.
func names(f *databases.Fixture, m *skills.Mine) string {
	f.Helper()
	list, err := m.List(f.Context())
	f.Must(err)
	var out []string
	for _, s := range list {
		name := s.Category + "/" + s.Name
		if !s.Enabled {
			name = "-" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func marshal(f *databases.Fixture, v any) string {
	f.Helper()
	raw, err := json.Marshal(v)
	f.Must(err)
	return string(raw)
}

// members are the names in an archive.
func members(f *databases.Fixture, raw []byte) (list []string) {
	f.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	f.Must(err)
	for _, m := range z.File {
		list = append(list, m.Name)
	}
	return list
}

// says ends the test unless the error says so.
func says(f *databases.Fixture, err error, want string) {
	f.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		f.Fatalf("error = %v, want %q", err, want)
	}
}
