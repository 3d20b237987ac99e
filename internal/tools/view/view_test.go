package view

import (
	"bytes"
	"encoding/json"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

func encoded(t *testing.T, as string) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1600, 50))
	var b bytes.Buffer
	err := map[string]func() error{
		picture.PNG:  func() error { return png.Encode(&b, img) },
		picture.JPEG: func() error { return jpeg.Encode(&b, img, nil) },
		picture.GIF:  func() error { return gif.Encode(&b, img, nil) },
	}[as]()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestView(t *testing.T) {
	host, outputs := t.TempDir(), t.TempDir()
	files, err := sandbox.NewFiles([]sandbox.Mount{
		{Host: host, Path: sandbox.Workspace}, {Host: outputs, Path: sandbox.Outputs},
		{Host: t.TempDir(), Path: "/mnt/skills"},
	}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	pngFile, jpegFile, gifFile := encoded(t, picture.PNG), encoded(t, picture.JPEG), encoded(t, picture.GIF)
	for name, data := range map[string][]byte{
		"a.png": pngFile, "b.JPG": jpegFile, "d.gif": gifFile, "fake.png": jpegFile, "text.png": []byte("hello"),
		"x.svg": []byte("<svg/>"), "broken.png": pngFile[:60], "huge.png": pngFile, "/mnt/skills/s.png": pngFile,
	} {
		if err := files.WriteFile(name, data, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(host+"/huge.png", picture.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	const ws = sandbox.Workspace
	where := "Error: only images below /mnt/user-data/workspace, /mnt/user-data/uploads or /mnt/user-data/outputs can be viewed: "
	seen := func(path, mime string, data []byte) map[string]threadstate.ViewedImage {
		return map[string]threadstate.ViewedImage{path: {MIMEType: mime, Size: int64(len(data)), ActualPath: path}}
	}
	for _, tt := range []struct {
		path, want string
		state      map[string]threadstate.ViewedImage
	}{
		{ws + "/a.png", "Successfully read image", seen(ws+"/a.png", "image/png", pngFile)},
		{"b.JPG", "Successfully read image", seen(ws+"/b.JPG", "image/jpeg", jpegFile)},
		{"d.gif", "Successfully read image", seen(ws+"/d.gif", "image/gif", gifFile)},
		{"fake.png", "Error: the content of fake.png does not match its ending: it is image/jpeg", nil},
		{"text.png", "Error: the content of text.png does not match its ending: it is no image that can be viewed",
			nil},
		{"x.svg", "Error: unsupported image format: x.svg. It must be jpg, jpeg, png, webp or gif; convert it first",
			nil},
		{"broken.png", "Error: cannot view broken.png: the image is broken: png: invalid format: not enough pixel data",
			nil},
		{"none.png", "Error: Image file not found: none.png", nil},
		{"/mnt/skills/s.png", where + "/mnt/skills/s.png", nil},
		{"../a.png", where + "../a.png", nil},
		{"huge.png", "Error: read " + ws + "/huge.png: too large: 20971521 bytes, the limit is 20971520", nil},
	} {
		raw, _ := json.Marshal(map[string]string{"image_path": tt.path})
		res, err := New(Config{Files: files}).Run(t.Context(), &tool.Call{Args: raw})
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
		if update, _ := res.Update.MarshalJSON(); bytes.Contains(update, []byte("base64")) {
			t.Errorf("%s: the update carries the image", tt.path)
		}
		var ref picture.Ref
		_ = json.Unmarshal(res.Kwargs[picture.KeyRef], &ref)
		if named := ref.FromWidth == 1600 && ref.Width == 1568 && ref.SHA256 != ""; named != (tt.state != nil) {
			t.Errorf("%s: reference %+v", tt.path, ref)
		}
	}
	kept, err := os.ReadDir(outputs + "/.viewed-images")
	if err != nil || len(kept) != 3 {
		t.Errorf("%d renderings, %v", len(kept), err)
	}
	if spec := New(Config{}).Spec(); spec.Name != "view_image" ||
		!strings.Contains(string(spec.Parameters), `"image_path"`) {
		t.Errorf("%+v", spec)
	}
}
