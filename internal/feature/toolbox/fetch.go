package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	// A file is tried until so many tries in a row have brought nothing, and not more often than fileTries.
	idleTries = 4
	fileTries = 100
	// fileTimeout bounds a try, and stall the wait for the next bytes in it.
	fileTimeout = 30 * time.Minute
	stall       = time.Minute
)

// firstPause is the pause behind a try that has brought nothing; it doubles.
var firstPause = 500 * time.Millisecond //nolint:gochecknoglobals // tests make it shorter

// Progress is how far an installation is.
type Progress struct {
	// Step is "download", "unpack" or "compile"; What is the file or package at work.
	Step, What string
	// Done of Total bytes of the step.
	Done, Total int64
}

// fetch takes a wheel from the index. What an earlier try has brought is not asked for again.
func (b *Box) fetch(ctx context.Context, dir string, w Wheel, done func(int64)) (string, error) {
	name := filepath.Join(dir, w.SHA256)
	if checkFile(name, w) == nil {
		done(w.Size)
		return name, nil
	}
	most := int64(0)
	more := false // came in this try
	tell := func(n int64) {
		if n > most {
			most, more = n, true
		}
		done(n)
	}
	var err error
	for all, idle := 0, 0; all < fileTries && idle < idleTries; all++ {
		if err = pause(ctx, idle); err != nil {
			return "", err
		}
		more = false
		if err = b.fetchOnce(ctx, name, w, tell); err == nil {
			return name, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if final(err) {
			break
		}
		if idle++; more {
			idle = 1
		}
		b.cfg.Log.Info("a file of the toolbox did not come; it is tried again", "file", w.File, "error", err)
	}
	return "", fmt.Errorf("download %s: %w", w.File, err)
}

// pause waits the longer the more tries have brought nothing.
func pause(ctx context.Context, idle int) error {
	if idle == 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(firstPause << (idle - 1)):
		return nil
	}
}

// final reports whether it is of no use to try again.
func final(err error) bool {
	if status, ok := errors.AsType[statusError](err); ok {
		return status.code >= 400 && status.code < 500 && status.code != http.StatusTooManyRequests &&
			status.code != http.StatusRequestTimeout
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, errNotListed)
}

// fetchOnce goes on with the part of the file that is there already.
func (b *Box) fetchOnce(ctx context.Context, name string, w Wheel, done func(int64)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fileTimeout, fmt.Errorf("it took more than %s", fileTimeout))
	defer cancel()
	at, err := b.locate(ctx, w.pkg, w.File)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name+".part", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have >= w.Size { // it did not match, or is another file
		have = 0
	}
	if have, err = b.copyFrom(ctx, f, at, have, w.Size, done); err != nil {
		return err
	}
	if have != w.Size {
		return fmt.Errorf("it has %d bytes, not %d: %w", have, w.Size, ErrBad)
	}
	if err := errors.Join(f.Close(), checkFile(name+".part", w)); err != nil {
		return errors.Join(err, os.Remove(name+".part"))
	}
	return os.Rename(name+".part", name)
}

// copyFrom writes the file at a URL, from its byte have on, and returns how long the file is then, at most one more
// than size.
func (b *Box) copyFrom(ctx context.Context, f *os.File, at string, have, size int64, done func(int64)) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	res, err := b.cfg.HTTP.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusPartialContent && have > 0:
	case res.StatusCode == http.StatusOK:
		have = 0
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return 0, errors.Join(fmt.Errorf("%s: the rest of it is not given", req.URL.Redacted()), f.Truncate(0))
	default:
		return 0, statusError{req.URL.Redacted(), res.StatusCode}
	}
	if err := f.Truncate(have); err != nil {
		return 0, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return 0, err
	}
	done(have)
	slow := time.AfterFunc(stall, func() { cancel(fmt.Errorf("nothing came for %s", stall)) })
	defer slow.Stop()
	_, err = io.Copy(f, io.LimitReader(counting{res.Body, func(n int64) {
		slow.Reset(stall)
		have += n
		done(have)
	}}, size-have+1))
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return have, err
}

// counting tells of what is read.
type counting struct {
	from io.Reader
	tell func(n int64)
}

// Read implements io.Reader.
func (c counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		c.tell(int64(n))
	}
	return n, err
}

// checkFile compares a file with the lock.
func checkFile(name string, w Wheel) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != w.Size {
		return fmt.Errorf("%s has %d bytes, not %d: %w", w.File, info.Size(), w.Size, ErrBad)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != w.SHA256 {
		return fmt.Errorf("%s has the SHA-256 %s, not %s: %w", w.File, got, w.SHA256, ErrBad)
	}
	return nil
}

// isMissing reports whether err says that there is no file.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
