package bearer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/durable"
	"github.com/pudu-ai/pudu/internal/lib/flock"
)

// patience is how long other processes may take to change the file of tokens.
const patience = 30 * time.Second

// ErrUnknown says that there is no token of a name.
var ErrUnknown = errors.New("there is no token of that name")

// Add adds a token to the file at path, which is made if it is not there, and returns what the caller is to keep. It
// cannot be found out again.
func Add(path, called string, now time.Time) (secret string, err error) {
	secret, t, err := newToken(called, now)
	if err != nil {
		return "", err
	}
	err = change(path, func(tokens []Token) ([]Token, error) {
		switch {
		case slices.ContainsFunc(tokens, func(o Token) bool { return o.Name == called }):
			return nil, fmt.Errorf("there is a token of the name %s; revoke it first", called)
		case len(tokens) >= MaxTokens:
			return nil, fmt.Errorf("there are %d tokens, and there can be no more", MaxTokens)
		}
		return append(tokens, t), nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke takes a token out of the file at path; [ErrUnknown] if it has none of that name.
func Revoke(path, called string) error {
	return change(path, func(tokens []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(tokens), func(t Token) bool { return t.Name == called })
		if len(left) == len(tokens) {
			return nil, fmt.Errorf("%w: %.80q", ErrUnknown, called)
		}
		return left, nil
	})
}

// List reads the tokens of the file at path; one that is not there has none.
func List(path string) ([]Token, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	defer f.Close()
	return readFrom(f)
}

func readFrom(f *os.File) ([]Token, error) {
	raw, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(raw) > maxBytes {
		err = fmt.Errorf("it is larger than %d bytes", maxBytes)
	}
	var tokens []Token
	if err == nil {
		tokens, err = parse(string(raw))
	}
	if err != nil {
		err = fmt.Errorf("read tokens in %s: %w", f.Name(), err)
	}
	return tokens, err
}

// change rewrites the file. Two changes at once come one after the other; a crash leaves the old file or the new one.
func change(path string, f func([]Token) ([]Token, error)) error {
	unlock, err := lock(path)
	if err != nil {
		return fmt.Errorf("change tokens: %w", err)
	}
	defer unlock()
	tokens, err := List(path)
	if err == nil {
		tokens, err = f(tokens)
	}
	if err != nil {
		return err
	}
	if err := durable.Replace(path, format(tokens)); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}

// lock holds a file beside it, since the file itself is replaced.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := flock.Wait(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { f.Close() }, nil // which gives the lock back
}

// File is the file of tokens as a server sees it. Its methods may be called from many goroutines.
type File struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	seen   os.FileInfo // when it was read; nil if it was not there
	ever   bool        // it was there once
	failed bool        // it could not be looked at, which was told
	tokens []Token
}

// Watch begins to look at the file at path, which need not be there yet. A file that cannot be read is an error now;
// one that becomes so later is told to log, where nil is slog's default.
func Watch(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: log}
	return f, f.read()
}

// Required reports whether callers must bring a token: there is a file, or was one. That the last token was revoked, or
// the file removed, opens no door.
func (f *File) Required() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return f.ever
}

// Name returns the name of a token; false if it is none of the file's. It takes as long whichever token it is.
func (f *File) Name(secret string) (string, bool) {
	given := sha256.Sum256([]byte(secret))
	f.mu.Lock()
	f.refresh()
	tokens := f.tokens // is replaced, never changed
	f.mu.Unlock()
	found := ""
	for i := range tokens {
		if subtle.ConstantTimeCompare(given[:], tokens[i].hash[:]) == 1 {
			found = tokens[i].Name
		}
	}
	return found, found != ""
}

// Sum is the SHA-256 of the token of a name; false if there is none.
func (f *File) Sum(called string) (sum [sha256.Size]byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	i := slices.IndexFunc(f.tokens, func(t Token) bool { return t.Name == called })
	if i < 0 {
		return sum, false
	}
	return f.tokens[i].hash, true
}

// refresh reads the file again if it has changed. f.mu is held.
func (f *File) refresh() {
	if err := f.read(); err != nil {
		log := f.log
		if log == nil {
			log = slog.Default()
		}
		log.Error("the file of tokens cannot be read as a whole; tokens that cannot be read are refused", "error", err)
	}
}

// read takes over what the file has, as far as it can be read, if it is another one than last time. f.mu is held.
func (f *File) read() error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.seen, f.tokens = nil, nil
		return nil
	case err == nil && f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) &&
		info.Size() == f.seen.Size():
		return nil
	}
	f.ever, f.tokens, f.seen = true, nil, info // nil if it cannot be looked at
	told := f.failed
	if f.failed = err != nil; f.failed {
		if told {
			return nil
		}
		return fmt.Errorf("read tokens: %w", err)
	}
	f.tokens, err = List(f.path)
	return err
}
