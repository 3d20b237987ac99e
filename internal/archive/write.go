package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// pieceBytes is how much of the dump is collected in memory until it becomes an entry.
const pieceBytes = 4 << 20

// Write writes an archive of a store and of the files of its data folder. Both may be in use.
func Write(ctx context.Context, w io.Writer, s store.Keeper, dir string, now time.Time) (Summary, error) {
	zip := gzip.NewWriter(w)
	a := &writer{ctx: ctx, tar: tar.NewWriter(zip), now: now}
	err := a.all(s, dir)
	if err == nil {
		err = errors.Join(a.tar.Close(), zip.Close())
	}
	if err != nil {
		return Summary{}, fmt.Errorf("write backup: %w", err)
	}
	return a.sum, nil
}

type writer struct {
	ctx  context.Context
	tar  *tar.Writer
	now  time.Time
	root *os.Root
	sum  Summary
}

func (a *writer) all(s store.Keeper, dir string) (err error) {
	if err := a.note(headName, head{format, version, a.now.UTC()}); err != nil {
		return err
	}
	p := &pieces{to: a}
	if a.sum.Holding, err = s.Dump(a.ctx, p); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	if a.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	defer a.root.Close()
	if err := fs.WalkDir(a.root.FS(), userdata.Root, a.visit); err != nil {
		return err
	}
	return a.note(summaryName, a.sum)
}

// note writes an entry of JSON.
func (a *writer) note(name string, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	return a.bytes(name, raw)
}

func (a *writer) bytes(name string, raw []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(raw)), ModTime: a.now,
		Format: tar.FormatPAX}
	if err := a.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := a.tar.Write(raw)
	return err
}

// pieces cuts the dump into entries.
type pieces struct {
	to  *writer
	buf bytes.Buffer
	n   int
}

func (p *pieces) Write(record []byte) (int, error) {
	p.buf.Write(record)
	if p.buf.Len() < pieceBytes {
		return len(record), nil
	}
	return len(record), p.flush()
}

func (p *pieces) flush() error {
	if p.buf.Len() == 0 {
		return nil
	}
	p.n++
	err := p.to.bytes(pieceName(p.n), p.buf.Bytes())
	p.buf.Reset()
	return err
}

// visit adds what stands at a path. The agents' folders change all the time and may hold anything: what has gone is
// left out, and what cannot be read is counted.
func (a *writer) visit(name string, e fs.DirEntry, err error) error {
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	if err != nil {
		return a.gone(err)
	}
	switch {
	case e.IsDir() && userdata.Removed(name):
		return fs.SkipDir
	case len(name) > maxName: // reading refuses such a name
		a.sum.Skipped++
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	case sandbox.IsTemp(e.Name()) && !e.IsDir():
		return nil
	}
	switch e.Type() {
	case fs.ModeDir:
		return a.folder(name, e)
	case fs.ModeSymlink:
		return a.link(name)
	case 0:
		return a.file(name)
	}
	a.sum.Skipped++
	return nil
}

// header is the entry's header but for its type and size.
func header(name string, info fs.FileInfo) *tar.Header {
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		h.Uid, h.Gid = int(st.Uid), int(st.Gid)
	}
	return h
}

func (a *writer) folder(name string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return a.gone(err)
	}
	h := header(name+"/", info)
	h.Typeflag = tar.TypeDir
	a.sum.Folders++
	return a.tar.WriteHeader(h)
}

func (a *writer) link(name string) error {
	info, err := a.root.Lstat(name)
	if err != nil {
		return a.gone(err)
	}
	target, err := a.root.Readlink(name)
	if err != nil {
		return a.gone(err)
	}
	h := header(name, info)
	h.Typeflag, h.Linkname = tar.TypeSymlink, target
	a.sum.Links++
	return a.tar.WriteHeader(h)
}

// gone leaves something out that could not be looked at.
func (a *writer) gone(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		a.sum.Skipped++
	}
	return nil
}

func (a *writer) file(name string) error {
	f, err := a.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe meanwhile
	if err != nil {
		return a.gone(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		a.sum.Skipped++
		return nil
	}
	h := header(name, info)
	h.Typeflag = tar.TypeReg
	list := extentsOf(f, info.Size())
	setExtents(h, info.Size(), list)
	if err := a.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("%s: %w", path.Base(name), err)
	}
	if err := a.content(f, info, list); err != nil {
		return err
	}
	a.sum.Files++
	a.sum.Bytes += h.Size
	return nil
}

// content writes as many bytes as the header says: of a file that has become shorter the rest is zeros.
func (a *writer) content(f *os.File, before fs.FileInfo, list []extent) error {
	parts := make([]io.Reader, len(list))
	for i, p := range list {
		parts[i] = io.NewSectionReader(f, p.at, p.size)
	}
	want := total(list)
	in := &source{ctx: a.ctx, r: io.MultiReader(parts...)}
	n, err := io.Copy(a.tar, in)
	if err != nil && in.err == nil {
		return err // of writing
	}
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	after, err := f.Stat()
	if n < want || err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		a.sum.Changed++
	}
	_, err = io.CopyN(a.tar, zeros{}, want-n)
	return err
}

// source tells failures of reading from those of writing, and ends with its context.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
