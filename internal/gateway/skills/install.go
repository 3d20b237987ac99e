package skills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

const extension = ".skill"

type installIn struct {
	Thread thread `body:"thread_id" required:""`
	Path   string `body:"path" max:"4096" required:""`
}

// thread is a thread's id that must be there.
type thread string

// ReadFrom implements [route.Reader].
func (t *thread) ReadFrom(in *route.Input, name string) {
	in.Demand(name)
	*t = thread(in.ThreadID(name))
}

// installedJSON is what became of an archive.
type installedJSON struct {
	Success bool   `json:"success"`
	Name    string `json:"skill_name"`
	Message string `json:"message"`
}

// Audited names the skill in the audit log.
func (in *installIn) Audited() (object string, ok bool) { return in.Path, true }

// install installs the skill that is in a file of a thread. The thread need not be there.
func (g *Group) install(ctx context.Context, in *installIn) (installedJSON, error) {
	at, err := archivePath(in.Path)
	if err != nil {
		return installedJSON{}, err
	}
	taken, err := g.Mine(ctx).Taken(ctx, string(in.Thread))
	if err == nil && taken {
		err = route.Failf(http.StatusNotFound, "Skill file not found: %s", route.Clip(at))
	}
	if err != nil {
		return installedJSON{}, err
	}
	files, err := g.Files(ctx, route.Caller(ctx).User, string(in.Thread))
	if err != nil {
		return installedJSON{}, err
	}
	defer files.Close()
	f, err := files.Open(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return installedJSON{}, route.Failf(http.StatusNotFound, "Skill file not found: %s", route.Clip(at))
	case errors.Is(err, sandbox.ErrOutside):
		return installedJSON{}, errTraversal
	case errors.Is(err, sandbox.ErrNotRegular):
		return installedJSON{}, route.Failf(http.StatusBadRequest, "Path is not a file: %s", route.Clip(at))
	case err != nil:
		return installedJSON{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return installedJSON{}, err
	}
	if path.Ext(at) != extension {
		return installedJSON{}, errExtension
	}
	return g.installed(ctx, f, info.Size(), path.Base(at))
}

var (
	errTraversal = route.Failf(http.StatusForbidden, "Access denied: path traversal detected")
	errExtension = route.Failf(http.StatusBadRequest, "File must have .skill extension")
)

// archivePath is where the file is, inside the sandbox.
func archivePath(p string) (string, error) {
	at := "/" + strings.TrimPrefix(p, "/")
	if at != sandbox.UserData && !strings.HasPrefix(at, sandbox.UserData+"/") {
		return "", route.Failf(http.StatusBadRequest, "Path must start with /mnt/user-data")
	}
	clean, err := sandbox.CleanPath(at)
	switch {
	case errors.Is(err, sandbox.ErrOutside):
		return "", errTraversal
	case err != nil:
		return "", route.Failf(http.StatusBadRequest, "%s", route.Clip(err.Error()))
	}
	return clean, nil
}

// installed installs an archive and says so.
func (g *Group) installed(ctx context.Context, r io.ReaderAt, size int64, source string) (installedJSON, error) {
	s, err := g.mine(ctx).Install(ctx, r, size, source)
	g.tell(ctx, err)
	if _, ok := errors.AsType[*skills.InvalidError](err); ok {
		err = route.Failf(http.StatusBadRequest, "Invalid skill: %s", err)
	}
	if err != nil {
		return installedJSON{}, refused(err)
	}
	return installedJSON{true, s.Name, fmt.Sprintf("Skill '%s' installed successfully for user '%s'", s.Name,
		route.Caller(ctx).User.ID())}, nil
}

// formOverhead is what a form may have beside the archive, in bytes.
const formOverhead = 64 << 10

// upload installs the archive that is the only file of a form.
func (g *Group) upload(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	return g.sent(w, r, func(file *os.File, size int64, name string) (any, error) {
		return g.installed(r.Context(), file, size, name)
	})
}

// scannedJSON is what an installation would find. The review by a model is not made.
type scannedJSON struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Findings    []skills.Finding `json:"findings"`
}

// scan looks at the archive that is the only file of a form.
func (g *Group) scan(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	return g.sent(w, r, func(file *os.File, size int64, _ string) (any, error) {
		found, err := skills.Scan(file, size)
		if _, ok := errors.AsType[*skills.InvalidError](err); ok {
			err = route.Failf(http.StatusBadRequest, "Invalid skill: %s", err)
		}
		if found.Findings == nil {
			found.Findings = []skills.Finding{}
		}
		return scannedJSON{found.Name, found.Description, found.Findings}, refused(err)
	})
}

// sent answers what is made of the archive that is the only file of a form.
func (g *Group) sent(w http.ResponseWriter, r *http.Request, use func(file *os.File, size int64, name string) (any,
	error)) error {
	body := g.Steady(w, r, skills.MaxArchive+formOverhead)
	r.Body = body
	file, name, size, err := received(r)
	body.Drain()
	if file != nil {
		defer func() {
			file.Close()
			os.Remove(file.Name())
		}()
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(body.Err, &tooLarge):
		return refused(skills.ErrLarge)
	case errors.Is(body.Err, os.ErrDeadlineExceeded):
		return route.Failf(http.StatusRequestTimeout, "The upload came too slowly; nothing was installed")
	case err != nil:
		return err
	case path.Ext(name) != extension:
		return errExtension
	}
	done, err := use(file, size, name)
	if err != nil {
		return err
	}
	return route.Reply(w, http.StatusOK, done)
}

// received puts the first file of a form into a file of the host, which the caller closes and removes.
func received(r *http.Request) (file *os.File, name string, size int64, err error) {
	cut := route.Failf(http.StatusBadRequest, "The upload was cut off, or is no form; nothing was installed")
	form, err := r.MultipartReader()
	if err != nil {
		return nil, "", 0, cut
	}
	const fields = 10
	for range fields {
		part, err := form.NextPart()
		if err != nil {
			break
		}
		if part.FileName() == "" {
			continue
		}
		if file, err = os.CreateTemp("", "pudu-upload-"); err != nil {
			return nil, "", 0, err
		}
		if size, err = io.Copy(file, part); err != nil {
			return file, "", 0, cut
		}
		return file, part.FileName(), size, nil
	}
	return nil, "", 0, route.Failf(http.StatusUnprocessableEntity, "The form has no file")
}
