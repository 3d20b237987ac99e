package toolbox

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Pack writes the files of a target, which it fetches, into an archive for [Box.Install] on another machine, whose Pudu
// must have the same lock. What was downloaded stays until the next installation.
func (b *Box) Pack(ctx context.Context, t Target, w io.Writer, tell func(Progress)) error {
	set, err := b.lock.For(t)
	if err != nil {
		return err
	}
	unlock, err := b.alone()
	if err != nil {
		return err
	}
	defer unlock()
	loads := filepath.Join(b.cfg.Dir, downloads)
	if err := os.MkdirAll(loads, 0o700); err != nil {
		return err
	}
	if tell == nil {
		tell = func(Progress) {}
	}
	paths, err := b.bring(ctx, set, loads, nil, tell)
	if err != nil {
		return b.explain(fmt.Errorf("pack the toolbox: %w", err))
	}
	out := tar.NewWriter(w)
	for i, wheel := range set.wheels {
		if err := put(out, paths[i], wheel); err != nil {
			return fmt.Errorf("pack %s: %w", wheel.File, err)
		}
	}
	return out.Close()
}

func put(out *tar.Writer, name string, w Wheel) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := out.WriteHeader(&tar.Header{Name: w.File, Size: w.Size, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}

// takeOut puts the wheels of a set that an archive has into the folder of downloads. Names in it only choose; nothing
// is written under them. What is not of the set is an error: then it is for another Python, or made by another version
// of Pudu.
func takeOut(ctx context.Context, s *set, loads string, file io.Reader, tell func(Progress)) error {
	wanted := map[string]Wheel{}
	for _, w := range s.wheels {
		wanted[w.File] = w
	}
	in := tar.NewReader(file)
	before := int64(0)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w: %w", ErrBad, err)
		}
		w, ok := wanted[h.Name]
		if !ok || h.Typeflag != tar.TypeReg || h.Size != w.Size {
			return fmt.Errorf("the archive has %.100q, which is not for %s in this version of Pudu; "+
				"make it with `pudu toolbox pack --python %s --arch %s` of the same version: %w", h.Name, s.target,
				s.target.Python, s.target.Arch, ErrBad)
		}
		delete(wanted, h.Name)
		if err := errors.Join(ctx.Err(), keep(in, filepath.Join(loads, w.SHA256), w)); err != nil {
			return fmt.Errorf("%s: %w", w.File, err)
		}
		before += w.Size
		tell(Progress{"download", w.File, before, s.size()})
	}
	if len(wanted) > 0 {
		return fmt.Errorf("the archive lacks %d of %d files for %s: %w", len(wanted), len(s.wheels), s.target, ErrBad)
	}
	return nil
}

// keep writes a wheel and compares it with the lock.
func keep(r io.Reader, name string, w Wheel) error {
	f, err := os.OpenFile(name+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(r, w.Size+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the archive is cut off: %w", ErrBad)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = checkFile(name+".part", w)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name+".part"))
	}
	return os.Rename(name+".part", name)
}
