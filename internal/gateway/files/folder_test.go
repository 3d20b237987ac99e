package files_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/sandbox"
)

const ofFolder = "/api/folders/{folder}/files"

// folderKit has a folder.
func folderKit(t *testing.T, change func(*gateway.Config)) *gateways.FileKit {
	t.Helper()
	k := gateways.NewFiles(t, change)
	k.Play([]gateways.Scenario{{
		Name: "a folder", Method: "POST", Path: "/folders", Body: `{"name":"f"}`, Status: 200,
		Keep: map[string]string{"folder_id": "folder"},
	}})
	return k
}

func TestFolderFiles(t *testing.T) {
	k := folderKit(t, nil)
	k.Play([]gateways.Scenario{{Name: "none yet", Method: "GET", Path: ofFolder, Status: 200, Want: `[]`}})
	file := gateways.File
	k.Expect("two", k.UploadTo(ofFolder, file("a.txt", "hello"), file("../../鹿 ?.md", "deer"), file("..", "x"),
		gateways.Field{Name: "other", Content: "x"}),
		200, `{"files":[{"path":"/mnt/folder/a.txt","filename":"a.txt","size":5,"original_filename":null},
			{"path":"/mnt/folder/鹿 ?.md","size":4}],"skipped_files":[".."]}`)
	k.Expect("again", k.UploadTo(ofFolder, file("a.txt", "more")), 200,
		`{"files":[{"filename":"a_1.txt","original_filename":"a.txt"}]}`)
	k.Expect("instead", k.UploadTo(ofFolder+"?replace=true", file("a.txt", "new")), 200,
		`{"files":[{"filename":"a.txt","size":3}]}`)
	k.Expect("below", k.UploadTo(ofFolder+"?path=notes/2026", file("b.txt", "b")), 200,
		`{"files":[{"path":"/mnt/folder/notes/2026/b.txt"}]}`)
	k.Expect("nothing", k.UploadTo(ofFolder, gateways.Field{Name: "other", Content: "x"}), 422,
		`{"detail":[{"type":"missing","loc":["body","files"]}]}`)
	for _, path := range []string{"../x", "/mnt/user-data/outputs", "a/../../..", "a%0ab",
		"a/.pudu-0123456789abcdef.tmp", "%00"} {
		k.Expect(path, k.UploadTo(ofFolder+"?path="+path, file("c.txt", "c")), 400, `{"detail":"Invalid path"}`)
	}
	k.Play([]gateways.Scenario{
		{Name: "all", Method: "GET", Path: ofFolder, Status: 200, Want: `[
			{"path":"/mnt/folder/a.txt","kind":"file","size":3,"made_by":null},{"path":"/mnt/folder/a_1.txt"},
			{"path":"/mnt/folder/notes","kind":"folder"},{"path":"/mnt/folder/notes/2026","kind":"folder"},{"path":"/mnt/folder/notes/2026/b.txt","size":1},
			{"path":"/mnt/folder/鹿 ?.md"}]`},
		{Name: "some", Method: "GET", Path: ofFolder + "?path=notes&limit=1&offset=1", Status: 200,
			Want: `[{"path":"/mnt/folder/notes/2026/b.txt"}]`},
		{Name: "outside", Method: "GET", Path: ofFolder + "?path=/mnt/user-data", Status: 403},
		{Name: "not there", Method: "GET", Path: ofFolder + "?path=none", Status: 404,
			Want: `{"detail":"Artifact not found: none"}`},
		{Name: "a folder", Method: "GET", Path: ofFolder + "/notes", Status: 400},
		{Name: "no file", Method: "GET", Path: ofFolder + "/none", Status: 404},
		{Name: "no folder", Method: "GET", Path: "/folders/none/files", Status: 404,
			Want: `{"detail":"Folder none not found"}`},
		{Name: "a full folder stays", Method: "DELETE", Path: ofFolder + "/notes/2026", Status: 409,
			Want: `{"detail":"The folder notes/2026 is not empty"}`},
		{Name: "a file goes", Method: "DELETE", Path: ofFolder + "/notes/2026/b.txt", Status: 204},
		{Name: "once", Method: "DELETE", Path: ofFolder + "/notes/2026/b.txt", Status: 404},
		{Name: "an empty folder goes", Method: "DELETE", Path: ofFolder + "/notes/2026", Status: 204},
		{Name: "not all", Method: "DELETE", Path: ofFolder + "/.", Status: 404},
	})
	r := k.Request("GET", k.Fill(ofFolder)+"/a.txt", "")
	r.Header.Set("Range", "bytes=1-")
	if w := k.Send(r); w.Code != 206 || w.Body.String() != "ew" ||
		w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	checkFolderZip(t, k)
	k.Play([]gateways.Scenario{
		{Name: "the folder goes", Method: "DELETE", Path: "/folders/{folder}", Status: 204},
		{Name: "with its files", Method: "GET", Path: ofFolder + "/a.txt", Status: 404, Want: `{"detail":"Folder ` +
			k.Vars["folder"] + ` not found"}`},
	})
	k.Expect("and takes no more", k.UploadTo(ofFolder, file("a.txt", "hello")), 404, `{"detail":"*"}`)
}

func checkFolderZip(t *testing.T, k *gateways.FileKit) {
	t.Helper()
	w := k.Do("GET", k.Fill(ofFolder)+".zip", "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if want := []string{"a.txt", "a_1.txt", "notes/", "鹿 _.md"}; !slices.Equal(names, want) {
		t.Errorf("the ZIP has %q", names)
	}
	if w := k.Do("GET", k.Fill(ofFolder)+".zip?path=a_1.txt", ""); w.Header().
		Get("Content-Disposition") != "attachment; filename*=UTF-8''a_1.txt.zip" {
		t.Error(w.Header())
	}
}

// TestFolderQuota: a folder has a bound of bytes and of files. What is above it is refused as a whole, and leaves
// nothing.
func TestFolderQuota(t *testing.T) {
	k := folderKit(t, func(c *gateway.Config) { c.FolderQuota = 100 })
	full := `{"detail":"the folder is full: it may have 10000 files of 100 B; remove some"}`
	file := func(name string, n int) gateways.Field { return gateways.File(name, strings.Repeat("x", n)) }
	k.Expect("fits", k.UploadTo(ofFolder, file("a", 60)), 200, `{"files":[{"size":60}]}`)
	k.Expect("two that do not", k.UploadTo(ofFolder, file("b", 30), file("c", 30)), 413, full)
	k.Expect("one that does not", k.UploadTo(ofFolder, file("b", 41)), 413, full)
	k.Play([]gateways.Scenario{{Name: "one", Method: "GET", Path: ofFolder, Status: 200,
		Want: `[{"path":"/mnt/folder/a"}]`}})
	k.Expect("to the brim", k.UploadTo(ofFolder, file("b", 40)), 200, `{"files":[{"size":40}]}`)
	k.Expect("nothing more", k.UploadTo(ofFolder, file("c", 1)), 413, full)

	k = folderKit(t, nil)
	files, err := k.FolderFiles(t.Context(), access.FromRow(gateways.User), k.Vars["folder"])
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for i := range folders.MaxFiles - 1 {
		h, err := files.Create(fmt.Sprintf("%s/%d", sandbox.Folder, i))
		if err != nil {
			t.Fatal(err)
		}
		_ = h.Close()
	}
	k.Expect("two too many", k.UploadTo(ofFolder, file("x", 0), file("y", 0)), 413,
		`{"detail":"the folder is full: it may have 10000 files of 1 MiB; remove some"}`)
	k.Expect("the last", k.UploadTo(ofFolder, file("x", 0)), 200, `{"files":[{"size":0}]}`)
	if w := k.Do("GET", k.Fill(ofFolder)+"?limit=10001", ""); strings.Count(w.Body.String(),
		`"path"`) != folders.MaxFiles {
		t.Errorf("%d files", strings.Count(w.Body.String(), `"path"`))
	}
}

// TestFolderUploadsAtOnce: uploads at the same time leave no more than the folder may have.
func TestFolderUploadsAtOnce(t *testing.T) {
	k := folderKit(t, func(c *gateway.Config) { c.FolderQuota = 1000 })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { k.UploadTo(ofFolder, gateways.File(fmt.Sprint(i), strings.Repeat("x", 300))) })
	}
	wg.Wait()
	files, err := k.FolderFiles(t.Context(), access.FromRow(gateways.User), k.Vars["folder"])
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if n, left, over, err := folders.Room(t.Context(), files, 1000); over || err != nil {
		t.Errorf("room for %d files of %d bytes, %v", n, left, err)
	}
}

// TestFolderFilesThatFail: what cannot be opened or written is an error, and changes nothing.
func TestFolderFilesThatFail(t *testing.T) {
	k := folderKit(t, nil)
	k.Expect("a file", k.UploadTo(ofFolder, gateways.File("a.txt", "hello")), 200, `{"skipped_files":[]}`)
	usual := k.FolderFiles
	closed := func(ctx context.Context, u access.User, id string) (*sandbox.Files, error) {
		files, err := usual(ctx, u, id)
		return files, errors.Join(err, files.Close())
	}
	none := func(context.Context, access.User, string) (*sandbox.Files, error) { return nil, errors.New("no disk") }
	for name, open := range map[string]func(context.Context, access.User, string) (*sandbox.Files,
		error){"closed": closed, "none": none} {
		k.Change(func(c *gateway.Config) { c.FolderFiles = open })
		for _, ask := range []string{"GET " + ofFolder, "GET " + ofFolder + "/a.txt", "DELETE " + ofFolder + "/a.txt",
			"GET " + ofFolder + ".zip"} {
			method, path, _ := strings.Cut(ask, " ")
			if w := k.Do(method, k.Fill(path), ""); w.Code < 400 {
				t.Errorf("%s, %s: %d %s", name, ask, w.Code, w.Body)
			}
		}
		if w := k.UploadTo(ofFolder+"?replace=true", gateways.File("a.txt", "other")); w.Code < 400 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	k.Change(func(c *gateway.Config) { c.FolderFiles = usual })
	if w := k.Do("GET", k.Fill(ofFolder)+"/a.txt", ""); w.Body.String() != "hello" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
