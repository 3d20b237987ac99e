package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// Staging is the folder in the data folder in which files stand until everything was read. It is there only while an
// archive is read; one that is left over is of a restore that was cut off.
const Staging = ".restore"

// Read reads an archive into an empty store and a data folder without files, which the caller holds. limit bounds the
// bytes of records and files together. It is all or nothing: the files get their place when all of the archive was read
// and found whole, right before the records are committed. Something that is there already is [store.ErrConflict].
func Read(ctx context.Context, r io.Reader, s store.Keeper, dir string, limit int64) (sum Summary, err error) {
	a := &reader{ctx: ctx, left: limit}
	if a.root, err = os.OpenRoot(dir); err == nil {
		err = errors.Join(a.all(r, s), a.root.Close())
	}
	if err != nil {
		return Summary{}, fmt.Errorf("restore backup: %w", err)
	}
	return a.sum, nil
}

type reader struct {
	ctx     context.Context
	zip     *gzip.Reader
	tar     *tar.Reader
	next    *tar.Header // the entry that comes; nil at the end
	root    *os.Root
	sum     Summary
	left    int64 // bytes that may still come
	entries int
	placed  bool // the files have their place
}

func (a *reader) all(r io.Reader, s store.Keeper) (err error) {
	if err := a.begin(r); err != nil {
		return err
	}
	if err := a.stage(); err != nil {
		return err
	}
	a.sum.Holding, err = s.Load(a.ctx, &dump{a: a}, a.rest)
	if errors.Is(err, store.ErrUnknown) {
		// the records may be there, and then need their files; Staging tells the next restore that these may go
		return err
	}
	if err != nil && a.placed {
		err = errors.Join(err, sandbox.RemoveAll(a.root, userdata.Root))
	}
	return errors.Join(err, sandbox.RemoveAll(a.root, Staging))
}

// begin reads the first entry.
func (a *reader) begin(r io.Reader) (err error) {
	if a.zip, err = gzip.NewReader(r); err != nil {
		return fmt.Errorf("this is no backup of Pudu: %w", err)
	}
	a.tar = tar.NewReader(a.zip)
	if err := a.advance(); err != nil {
		return fmt.Errorf("this is no backup of Pudu: %w", err)
	}
	var h head
	if a.next == nil || a.next.Name != headName || a.decode(&h) != nil || h.Format != format {
		return errors.New("this is no backup of Pudu")
	}
	if h.Version < 1 || h.Version > version {
		return fmt.Errorf("%w: the backup has version %d, this program reads 1 to %d", store.ErrNewer, h.Version,
			version)
	}
	return a.advance()
}

// advance goes to the next entry.
func (a *reader) advance() (err error) {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.entries++; a.entries > maxEntries {
		return fmt.Errorf("the backup has more than %d entries", maxEntries)
	}
	a.next, err = a.tar.Next()
	if err == io.EOF {
		a.next = nil
		return nil
	}
	return damaged(err)
}

// damaged explains an error of unpacking.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the backup is damaged or cut off: %w", err)
}

// decode reads an entry of JSON.
func (a *reader) decode(v any) error {
	if a.next.Size > maxNote || a.next.Typeflag != tar.TypeReg {
		return fmt.Errorf("%s is not as it must be", a.next.Name)
	}
	raw, err := io.ReadAll(a.tar)
	if err != nil {
		return damaged(err)
	}
	return json.Unmarshal(raw, v)
}

// spend counts bytes that are going to be written.
func (a *reader) spend(n int64) error {
	if n < 0 || n > a.left {
		return errors.New("there is not enough room for what the backup holds; free some, or give a data folder on " +
			"another disk with --data")
	}
	a.left -= n
	return nil
}

// stage makes the folder for the files. Files that are there already are somebody's, unless a restore that was cut off
// had placed them: then they go when the store has turned out to be empty.
func (a *reader) stage() error {
	_, err := a.root.Lstat(Staging)
	if errors.Is(err, fs.ErrNotExist) {
		if err := a.mustBeEmpty(); err != nil {
			return err
		}
	}
	return errors.Join(sandbox.RemoveAll(a.root, Staging), a.root.Mkdir(Staging, 0o700))
}

func (a *reader) mustBeEmpty() error {
	f, err := a.root.Open(userdata.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if names, err := f.Readdirnames(1); err != io.EOF {
		return errors.Join(fmt.Errorf("%w: the data folder has files of %q", store.ErrConflict, names), err)
	}
	return nil
}

// dump is the records of the archive, one piece after the other. It ends where the files begin.
type dump struct {
	a *reader
	n int // pieces so far
	r io.Reader
}

func (d *dump) Read(p []byte) (int, error) {
	for {
		if d.r == nil {
			h := d.a.next
			if h == nil || h.Name != pieceName(d.n+1) || h.Typeflag != tar.TypeReg {
				return 0, io.EOF
			}
			if err := d.a.spend(h.Size); err != nil {
				return 0, err
			}
			d.n++
			d.r = d.a.tar
		}
		n, err := d.r.Read(p)
		if err == io.EOF {
			d.r = nil
			if err = d.a.advance(); err == nil && n == 0 {
				continue
			}
			return n, err
		}
		return n, damaged(err)
	}
}

// rest reads what comes behind the dump, to the end, and gives the files their place.
func (a *reader) rest() error {
	for a.next != nil && a.next.Name != summaryName {
		if err := a.entry(); err != nil {
			return fmt.Errorf("%.200q: %w", a.next.Name, err)
		}
		if err := a.advance(); err != nil {
			return err
		}
	}
	if err := a.end(); err != nil {
		return err
	}
	return a.place()
}

// end reads the summary and makes sure that nothing comes behind it. The checksum stands at the very end.
func (a *reader) end() error {
	if a.next == nil {
		return errors.New("the backup is cut off: its summary is missing")
	}
	var want Summary
	if err := a.decode(&want); err != nil {
		return err
	}
	if a.sum.Files != want.Files || a.sum.Folders != want.Folders || a.sum.Bytes != want.Bytes {
		return fmt.Errorf("files are missing: the backup says %d files of %d bytes, there were %d of %d", want.Files,
			want.Bytes, a.sum.Files, a.sum.Bytes)
	}
	if err := a.advance(); err != nil || a.next != nil {
		return errors.Join(err, errors.New("something comes behind the summary"))
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(a.zip, 1<<20)); err != nil || n == 1<<20 {
		return errors.Join(damaged(err), errors.New("the end is not as it must be"))
	}
	return nil
}

// entry unpacks one file, folder or link.
func (a *reader) entry() error {
	name, err := checkName(a.next.Name)
	if err != nil {
		return err
	}
	at := Staging + "/" + name
	switch a.next.Typeflag {
	case tar.TypeDir:
		a.sum.Folders++
		return a.folder(at)
	case tar.TypeReg:
		return a.file(at)
	case tar.TypeSymlink:
		if !linkStays(name, a.next.Linkname) {
			a.sum.Skipped++
			return nil
		}
		a.sum.Links++
		return errors.Join(a.root.Symlink(a.next.Linkname, at), a.own(at))
	}
	return fmt.Errorf("type %q is not one that a backup holds", a.next.Typeflag)
}

// own gives something to its owner, which only root can.
func (a *reader) own(at string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return a.root.Lchown(at, a.next.Uid, a.next.Gid)
}

// folder makes a folder. Its owner may always use it.
func (a *reader) folder(at string) error {
	if err := a.root.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info, err := a.root.Lstat(at)
	if err != nil || !info.IsDir() {
		return errors.Join(err, errName)
	}
	return errors.Join(a.root.Chmod(at, fs.FileMode(a.next.Mode)&0o777|0o700), a.own(at))
}

func (a *reader) file(at string) error {
	if err := a.spend(a.next.Size); err != nil {
		return err
	}
	list, size, err := readExtents(a.next)
	if err != nil {
		return err
	}
	if err := a.root.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	f, err := a.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(a.fill(f, list, size), f.Close()); err != nil {
		return err
	}
	a.sum.Files++
	a.sum.Bytes += a.next.Size
	return a.root.Chtimes(at, a.next.ModTime, a.next.ModTime)
}

// fill writes, owns and syncs a file. Bits beside the permissions, such as set-user-id, are left out.
func (a *reader) fill(f *os.File, list []extent, size int64) error {
	if err := scatter(f, &source{ctx: a.ctx, r: a.tar}, list, size); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		if err := f.Chown(a.next.Uid, a.next.Gid); err != nil {
			return err
		}
	}
	if err := f.Chmod(fs.FileMode(a.next.Mode) & 0o777); err != nil {
		return err
	}
	return f.Sync()
}

// place moves the files to where they belong.
func (a *reader) place() error {
	if _, err := a.root.Lstat(Staging + "/" + userdata.Root); errors.Is(err, fs.ErrNotExist) {
		return nil // no thread has files
	}
	if err := sandbox.RemoveAll(a.root, userdata.Root); err != nil {
		return err
	}
	if err := a.root.Rename(Staging+"/"+userdata.Root, userdata.Root); err != nil {
		return err
	}
	a.placed = true
	return a.sync()
}

// sync makes the new names in the data folder durable.
func (a *reader) sync() error {
	d, err := a.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
