package view

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

const (
	png  = "\x89PNG\r\n\x1a\nrest"
	jpeg = "\xff\xd8\xff\xe0rest"
	webp = "RIFF\x10\x00\x00\x00WEBPVP8 "
)

func TestView(t *testing.T) {
	host := t.TempDir()
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Workspace}, {Host: t.TempDir(), Path: "/mnt/skills"}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for name, text := range map[string]string{"a.png": png, "b.JPG": jpeg, "c.webp": webp, "d.gif": "GIF89a", "fake.png": jpeg, "text.png": "hello", "x.svg": "<svg/>", "/mnt/skills/s.png": png} {
		if err := files.WriteFile(name, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.WriteFile("huge.png", []byte(png), false); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(host+"/huge.png", MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	const ws = sandbox.Workspace
	where := "Error: only images below /mnt/user-data/workspace, /mnt/user-data/uploads or /mnt/user-data/outputs can be viewed: "
	seen := func(path, mime string, size int64) map[string]threadstate.ViewedImage {
		return map[string]threadstate.ViewedImage{path: {MIMEType: mime, Size: size, ActualPath: path}}
	}
	for _, tt := range []struct {
		path, want string
		state      map[string]threadstate.ViewedImage
	}{
		{ws + "/a.png", "Successfully read image", seen(ws+"/a.png", "image/png", int64(len(png)))},
		{"b.JPG", "Successfully read image", seen(ws+"/b.JPG", "image/jpeg", int64(len(jpeg)))},
		{"c.webp", "Successfully read image", seen(ws+"/c.webp", "image/webp", int64(len(webp)))},
		{"d.gif", "Successfully read image", seen(ws+"/d.gif", "image/gif", 6)},
		{"fake.png", "Error: the content of fake.png does not match its ending: it is image/jpeg", nil},
		{"text.png", "Error: the content of text.png does not match its ending: it is no image that can be viewed", nil},
		{"x.svg", "Error: unsupported image format: x.svg. It must be jpg, jpeg, png, webp or gif; convert it first", nil},
		{"none.png", "Error: Image file not found: none.png", nil},
		{"/mnt/skills/s.png", where + "/mnt/skills/s.png", nil},
		{"../a.png", where + "../a.png", nil},
		{"huge.png", "Error: read " + ws + "/huge.png: too large: 20971521 bytes, the limit is 20971520", nil},
	} {
		raw, _ := json.Marshal(map[string]string{"image_path": tt.path})
		res, err := New(files).Run(t.Context(), &tool.Call{Args: raw})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, res.Text()); diff != "" || res.IsError != (tt.state == nil) {
			t.Errorf("%s: error %v\n%s", tt.path, res.IsError, diff)
		}
		next, _, err := state.State{}.Apply(res.Update)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.state, threadstate.ViewedImages.Get(next)); diff != "" {
			t.Errorf("%s: state %s", tt.path, diff)
		}
		if update, _ := res.Update.MarshalJSON(); strings.Contains(string(update), "base64") {
			t.Errorf("%s: the update carries the image", tt.path)
		}
	}
	part, err := ImagePart(files, "d.gif")
	if diff := cmp.Diff(message.Part{Type: message.PartImage, URL: "data:image/gif;base64,R0lGODlh"}, part); err != nil || diff != "" {
		t.Errorf("ImagePart: %v\n%s", err, diff)
	}
	if _, err := ImagePart(files, "none.png"); err == nil || strings.Contains(err.Error(), host) {
		t.Errorf("ImagePart of a missing file: %v", err)
	}
}
