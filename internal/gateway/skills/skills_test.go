package skills_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// archive makes an archive of names and contents.
func archive(t *testing.T, list ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(list); i += 2 {
		w, err := z.Create(list[i])
		if err == nil {
			_, err = io.WriteString(w, list[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func md(name string) string { return "---\nname: " + name + "\ndescription: For tests.\n---\n" }

// newKit has two public skills, and a model that refuses what says demo-block.
func newKit(t *testing.T) *gateways.FileKit {
	t.Helper()
	return gateways.NewFiles(t, func(c *gateway.Config) {
		c.Skills = skills.New(skills.Config{
			Store: c.Store.(database.Store),
			Settings: func() config.SkillSettings {
				s := config.Default().SkillSettings()
				s.Path = "../../feature/skills/testdata/root"
				return s
			},
			Ask: func(_ context.Context, _, text string) (string, error) {
				if strings.Contains(text, "demo-block") {
					return `{"decision":"block","reason":"It harms."}`, nil
				}
				return `{"decision":"allow"}`, nil
			},
		})
	})
}

func TestSkills(t *testing.T) {
	k := newKit(t)
	k.Run("t", "hello")
	k.Put("t", "outputs/good.skill", archive(t, "tidy/SKILL.md", md("tidy"), "tidy/scripts/a.py", "print(1)\n"))
	k.Put("t", "outputs/bad.skill", archive(t, "../evil", "x"))
	k.Put("t", "outputs/no.skill", archive(t, "x", "x"))
	k.Put("t", "outputs/text.skill", "text")
	k.Put("t", "outputs/good.zip", "x")
	in := func(path string) string { return `{"thread_id":"t","path":"` + path + `"}` }
	const one = "/skills/custom/tidy"
	k.Play([]gateways.Scenario{
		{Name: "list", Method: "GET", Path: "/api/skills", Status: 200,
			Want: `{"skills":[{"name":"csv-tidy","license":null,"category":"public","enabled":true,"editable":false},{"name":"old-one","category":"legacy"},{"name":"word-count","license":"MIT"}]}`},
		{Name: "own", Method: "GET", Path: "/skills/custom", Status: 200, Want: `{"skills":[]}`},
		{Name: "get", Method: "GET", Path: "/skills/word-count", Status: 200, Want: `{"name":"word-count","uses":0}`},
		{Name: "none", Method: "GET", Path: "/skills/nope", Status: 404, Want: `{"detail":"Skill 'nope' not found"}`},
		{Name: "off", Method: "PUT", Path: "/skills/word-count", Body: `{"enabled":"off"}`, Status: 200,
			Want: `{"enabled":false}`},
		{Name: "on", Method: "PUT", Path: "/skills/word-count", Body: `{"enabled":true}`, Status: 200,
			Want: `{"enabled":true}`},
		{Name: "switch none", Method: "PUT", Path: "/skills/nope", Body: `{"enabled":true}`, Status: 404,
			Want: `{"detail":"Skill 'nope' not found"}`},
		{Name: "neither", Method: "PUT", Path: "/skills/word-count", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","enabled"]}]}`},
		{Name: "reload", Method: "POST", Path: "/skills/reload", Status: 200,
			Want: `{"success":true,"scope":"process"}`},
		{Name: "install", Method: "POST", Path: "/skills/install", Body: in("mnt/user-data/outputs/good.skill"),
			Status: 200,
			Want:   `{"success":true,"skill_name":"tidy","message":"Skill 'tidy' installed successfully for user 'user'"}`},
		{Name: "again", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/good.skill"),
			Status: 409, Want: `{"detail":"Skill 'tidy' already exists"}`},
		{Name: "no file", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/none.skill"),
			Status: 404,
			Want:   `{"detail":"Skill file not found: /mnt/user-data/outputs/none.skill"}`},
		{Name: "nothing said", Method: "POST", Path: "/skills/install", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","thread_id"]},{"type":"missing","loc":["body","path"]}]}`},
		{Name: "no thread said", Method: "POST", Path: "/skills/install",
			Body: `{"path":"/mnt/user-data/outputs/good.skill"}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","thread_id"]}]}`},
		{Name: "no thread", Method: "POST", Path: "/skills/install",
			Body: `{"thread_id":"none","path":"/mnt/user-data/outputs/good.skill"}`, Status: 404},
		{Name: "elsewhere", Method: "POST", Path: "/skills/install", Body: in("/etc/passwd"), Status: 400,
			Want: `{"detail":"Path must start with /mnt/user-data"}`},
		{Name: "beside", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data-evil/x.skill"), Status: 400},
		{Name: "out", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/../../../../x.skill"),
			Status: 403,
			Want:   `{"detail":"Access denied: path traversal detected"}`},
		{Name: "folder", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs"), Status: 400,
			Want: `{"detail":"Path is not a file: /mnt/user-data/outputs"}`},
		{Name: "extension", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/good.zip"),
			Status: 400, Want: `{"detail":"File must have .skill extension"}`},
		{Name: "text", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/text.skill"),
			Status: 400, Want: `{"detail":"File is not a valid ZIP archive"}`},
		{Name: "no SKILL.md", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/no.skill"),
			Status: 400, Want: `{"detail":"Invalid skill: SKILL.md not found"}`},
		{Name: "scan", Method: "POST", Path: "/skills/install", Body: in("/mnt/user-data/outputs/bad.skill"),
			Status: 400,
			Want:   `{"detail":{"skill_name":null,"findings":[{"rule_id":"package-path-traversal","severity":"CRITICAL","file":"../evil","line":null}]}}`},
		{Name: "refused", Method: "GET", Path: "/skills/refused", Status: 200,
			Want: `{"refused":[{"source":"bad.skill","findings":[{"severity":"CRITICAL"}]},{"source":"no.skill","message":"SKILL.md not found"},{"source":"text.skill"}]}`},
		{Name: "text", Method: "GET", Path: one, Status: 200, Want: `{"name":"tidy","editable":true,"content":"` +
			strings.ReplaceAll(md("tidy"), "\n", `\n`) + `","scanner":{"decision":"allow"}}`},
		{Name: "text of a public one", Method: "GET", Path: "/skills/custom/csv-tidy", Status: 404,
			Want: `{"detail":"Custom skill 'csv-tidy' not found"}`},
		{Name: "no history", Method: "GET", Path: one + "/history", Status: 200, Want: `{"history":[]}`},
		{Name: "history of none", Method: "GET", Path: "/skills/custom/nope/history", Status: 404,
			Want: `{"detail":"Custom skill 'nope' not found"}`},
		{Name: "nothing to go back to", Method: "POST", Path: one + "/rollback", Body: `{}`, Status: 400,
			Want: `{"detail":"Custom skill 'tidy' has no history"}`},
		{Name: "edit", Method: "PUT", Path: one, Body: `{"content":"---\nname: tidy\ndescription: Two.\n---\n"}`,
			Status: 200, Want: `{"description":"Two."}`},
		{Name: "blocked", Method: "PUT", Path: one,
			Body: `{"content":"---\nname: tidy\ndescription: demo-block\n---\n"}`, Status: 400,
			Want: `{"detail":"Security scan blocked the edit: It harms."}`},
		{Name: "key", Method: "PUT", Path: one,
			Body: `{"content":"---\nname: tidy\ndescription: d\n---\n-----BEGIN PRIVATE KEY-----"}`, Status: 400,
			Want: `{"detail":{"skill_name":"tidy","findings":[{"rule_id":"secret-private-key","file":"SKILL.md","line":5,"evidence":"[redacted]"}]}}`},
		{Name: "other name", Method: "PUT", Path: one, Body: `{"content":"---\nname: other\ndescription: d\n---\n"}`,
			Status: 400,
			Want:   `{"detail":"Frontmatter name 'other' must match requested skill name 'tidy'."}`},
		{Name: "edit a public one", Method: "PUT", Path: "/skills/custom/csv-tidy", Body: `{"content":"x"}`,
			Status: 400},
		{Name: "edit none", Method: "PUT", Path: "/skills/custom/nope", Body: `{"content":"x"}`, Status: 404,
			Want: `{"detail":"Custom skill 'nope' not found."}`},
		{Name: "bad name", Method: "PUT", Path: "/skills/custom/Bad_Name", Body: `{"content":"x"}`, Status: 400,
			Want: `{"detail":"Skill name must be hyphen-case using lowercase letters, digits, and hyphens only."}`},
		{Name: "too far", Method: "POST", Path: one + "/rollback", Body: `{"history_index":99}`, Status: 400,
			Want: `{"detail":"history_index is out of range"}`},
		{Name: "back", Method: "POST", Path: one + "/rollback", Body: `{}`, Status: 200,
			Want: `{"description":"For tests."}`},
		{Name: "delete", Method: "DELETE", Path: one, Status: 200, Want: `{"success":true}`},
		{Name: "again", Method: "DELETE", Path: one, Status: 404, Want: `{"detail":"Custom skill 'tidy' not found."}`},
		{Name: "the history stays", Method: "GET", Path: one + "/history", Status: 200,
			Want: `{"history":[{"action":"human_edit"},{"action":"rollback","rollback_from_ts":"*"},{"action":"human_delete","new_content":null}]}`},
		{Name: "back again", Method: "POST", Path: one + "/rollback", Body: `{"history_index":0}`, Status: 200,
			Want: `{"description":"For tests."}`},
	})
}

// TestUpload installs an archive as it is, and gives it back.
func TestUpload(t *testing.T) {
	k := newKit(t)
	raw := archive(t, "SKILL.md", md("tidy"))
	k.Expect("upload", k.UploadTo("/skills/upload", gateways.File("tidy.skill", raw)), 200, `{"skill_name":"tidy"}`)
	k.Expect("again", k.UploadTo("/skills/upload", gateways.File("tidy.skill", raw)), 409,
		`{"detail":"Skill 'tidy' already exists"}`)
	k.Expect("extension", k.UploadTo("/skills/upload", gateways.File("tidy.zip", raw)), 400,
		`{"detail":"File must have .skill extension"}`)
	k.Expect("no file", k.UploadTo("/skills/upload"), 422, `{"detail":"The form has no file"}`)
	w := k.Do("GET", "/skills/custom/tidy/archive", "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || z.File[0].Name != "tidy/SKILL.md" || !strings.Contains(w.Header().Get("Content-Disposition"),
		"tidy.skill") {
		t.Errorf("%v %v %v", err, z, w.Header())
	}
	k.Expect("a public one", k.Do("GET", "/skills/custom/csv-tidy/archive", ""), 404, `{}`)
}

// TestScan tells what an installation would find, and installs nothing.
func TestScan(t *testing.T) {
	k := newKit(t)
	raw := archive(t, "SKILL.md", md("tidy"), "a.sh", "sudo ls\n")
	k.Expect("scan", k.UploadTo("/skills/scan", gateways.File("tidy.skill", raw)), 200,
		`{"name":"tidy","description":"For tests.","findings":"*"}`)
	k.Expect("bad", k.UploadTo("/skills/scan", gateways.File("bad.skill", archive(t, "../evil", "x"))), 400,
		`{"detail":{"skill_name":null,"findings":[{"rule_id":"package-path-traversal"}]}}`)
	k.Expect("no skill", k.UploadTo("/skills/scan", gateways.File("no.skill", archive(t, "x", "x"))), 400,
		`{"detail":"Invalid skill: SKILL.md not found"}`)
	k.Expect("extension", k.UploadTo("/skills/scan", gateways.File("tidy.zip", raw)), 400,
		`{"detail":"File must have .skill extension"}`)
	k.Expect("nothing is there", k.Do("GET", "/skills/tidy", ""), 404, `{}`)
	k.Expect("nor refused", k.Do("GET", "/skills/refused", ""), 200, `{"refused":[]}`)
	k.Expect("files of a public one", k.Do("GET", "/skills/files/word-count", ""), 200,
		`{"files":[{"path":"SKILL.md","size":"*","content":"*"}]}`)
	k.Expect("files of none", k.Do("GET", "/skills/files/nope", ""), 404, `{"detail":"Skill 'nope' not found"}`)
}

// TestSkillsOfOthers are not there.
func TestSkillsOfOthers(t *testing.T) {
	k := newKit(t)
	raw := archive(t, "SKILL.md", md("theirs"))
	_, err := k.Config.Skills.For(access.FromRow("other")).Install(t.Context(), strings.NewReader(raw), int64(len(raw)),
		"x.skill")
	if err != nil {
		t.Fatal(errors.Unwrap(err))
	}
	for _, s := range []gateways.Scenario{
		{Method: "GET", Path: "/skills/theirs"}, {Method: "PUT", Path: "/skills/theirs", Body: `{"enabled":false}`},
		{Method: "GET", Path: "/skills/custom/theirs"}, {Method: "PUT", Path: "/skills/custom/theirs",
			Body: `{"content":"x"}`}, {Method: "DELETE", Path: "/skills/custom/theirs"},
		{Method: "GET", Path: "/skills/custom/theirs/history"}, {Method: "GET", Path: "/skills/custom/theirs/archive"},
		{Method: "GET", Path: "/skills/files/theirs"},
	} {
		s.Name, s.Status = s.Method+" "+s.Path, 404
		k.Play([]gateways.Scenario{s})
	}
}
