package gateways

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// FileKit is a kit whose threads have folders below dir, as dir/ID/{workspace,uploads,outputs}.
type FileKit struct {
	*Kit

	// Dir holds the threads' folders.
	Dir string
}

// NewFiles makes a kit whose threads have folders.
func NewFiles(t *testing.T, change func(*gateway.Config)) *FileKit {
	t.Helper()
	return NewFilesAt(t, sqlstore.Config{Dir: databases.Dir(t, feature.All())}, change)
}

// NewFilesAt makes one on a database.
func NewFilesAt(t *testing.T, database sqlstore.Config, change func(*gateway.Config)) *FileKit {
	t.Helper()
	dir := t.TempDir()
	return &FileKit{Dir: dir, Kit: NewAt(t, database, agent.Config{Tools: Tools()}, func(c *gateway.Config) {
		c.Files = func(_ context.Context, user access.User, id string) (*sandbox.Files, error) {
			if user != access.FromRow(User) {
				return nil, fmt.Errorf("files of user %q were opened", user.ID())
			}
			var mounts []sandbox.Mount
			for _, name := range []string{"workspace", "uploads", "outputs"} {
				host := filepath.Join(dir, id, name)
				if err := os.MkdirAll(host, 0o750); err != nil {
					return nil, err
				}
				mounts = append(mounts, sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name})
			}
			return sandbox.NewFiles(mounts, sandbox.FilesOptions{})
		}
		if change != nil {
			change(c)
		}
	})}
}

// Host is where a file of a thread is on this machine; folders on the way are made.
func (k *FileKit) Host(thread, name string) string {
	k.T.Helper()
	p := filepath.Join(k.Dir, thread, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
		k.T.Fatal(err)
	}
	return p
}

// Put writes a file of a thread.
func (k *FileKit) Put(thread, name, content string) {
	k.T.Helper()
	if err := os.WriteFile(k.Host(thread, name), []byte(content), 0o600); err != nil {
		k.T.Fatal(err)
	}
}

func (k *FileKit) Read(thread, name string) string {
	k.T.Helper()
	raw, err := os.ReadFile(k.Host(thread, name))
	if err != nil {
		k.T.Error(err)
	}
	return string(raw)
}

// Names are those of all files in a thread's uploads, also of hidden ones.
func (k *FileKit) Names(thread string) []string {
	k.T.Helper()
	entries, err := os.ReadDir(filepath.Join(k.Dir, thread, "uploads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.T.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Foreign makes a thread of another user with a file in each folder.
func (k *FileKit) Foreign(id string) {
	k.T.Helper()
	if err := k.Store.For(access.FromRow("other")).CreateThread(k.T.Context(), store.Thread{ID: id,
		CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
		k.T.Fatal(err)
	}
	k.Put(id, "uploads/a.txt", "SECRET")
	k.Put(id, "outputs/a.txt", "SECRET")
}

// Field is one of a form; name is as it stands in the header.
type Field struct{ Name, Filename, Content string }

// Form makes a form with its Content-Type.
func Form(fields ...Field) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; `+
			`filename="%s"`, f.Name, f.Filename)}})
		if err == nil {
			_, err = io.WriteString(part, f.Content)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return w.FormDataContentType(), b.String()
}

// Upload sends files to a thread.
func (k *FileKit) Upload(thread string, fields ...Field) *httptest.ResponseRecorder {
	k.T.Helper()
	return k.UploadTo("/api/threads/"+thread+"/uploads", fields...)
}

// UploadTo sends a form to a path, with its variables filled in.
func (k *FileKit) UploadTo(path string, fields ...Field) *httptest.ResponseRecorder {
	k.T.Helper()
	contentType, body := Form(fields...)
	r := k.Request("POST", k.Fill(path), body)
	r.Header.Set("Content-Type", contentType)
	return k.Send(r)
}

// File is a field of a form that is a file.
func File(name, content string) Field { return Field{"files", name, content} }

// Expect compares an answer with a status and what it contains.
func (k *FileKit) Expect(name string, w *httptest.ResponseRecorder, status int, want string) {
	k.T.Helper()
	if w.Code != status {
		k.T.Errorf("%s: status %d, want %d: %.500s", name, w.Code, status, w.Body)
		return
	}
	if why := jsontest.Unlike(jsontest.Decode(k.T, []byte(want)), jsontest.Decode(k.T, w.Body.Bytes())); why != "" {
		k.T.Errorf("%s: %s in %.1000s", name, why, w.Body)
	}
}

// FolderFilesIn is where the files of folders of threads are kept, and DeleteFolderIn removes folders with them.
func FolderFilesIn(st database.Store, dir string) func(context.Context, access.User, string) (*sandbox.Files, error) {
	return func(ctx context.Context, user access.User, id string) (*sandbox.Files, error) {
		if _, err := folders.New(st).For(user).Folder(ctx, id); err != nil {
			return nil, err
		}
		at, err := userdata.New(dir).User(user).Shared(id)
		if err != nil {
			return nil, err
		}
		return at.Files()
	}
}

// DeleteFolderIn is told of by [FolderFilesIn].
func DeleteFolderIn(st database.Store, dir string) func(context.Context, access.User, string) error {
	return func(ctx context.Context, user access.User, id string) error {
		if err := folders.New(st).For(user).Delete(ctx, id); err != nil {
			return err
		}
		at, err := userdata.New(dir).User(user).Shared(id)
		if err != nil {
			return err
		}
		return at.Remove()
	}
}

// HistoryIn is where the history of threads' files is kept.
func HistoryIn(dir string) filehistory.Find {
	all := filehistory.New(filehistory.Config{})
	return func(_ context.Context, user access.User, id string) (*filehistory.Thread, error) {
		place, err := userdata.New(dir).User(user).Thread(id)
		if err != nil {
			return nil, err
		}
		return all.Of(place), nil
	}
}
