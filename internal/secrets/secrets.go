// Package secrets seals what belongs to a user and must not be read by who has the database or a backup of it, such as
// the URL of a webhook. The key is a file beside the database that no backup has, or PUDU_SECRETS_KEY.
//
//	secrets.Open(dir, env) -> For(user) -> Seal, Open
//
// [Values] are what a request brings for its run, by name.
//
// A value is sealed with AES-256-GCM by a key that HKDF derives for its user, and bound to the user and to its purpose:
// it can be opened for no other.
package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/durable"
)

const (
	// FileName is the key's file in the data folder.
	FileName = "secrets.key"
	// Variable has the key in its place.
	Variable = "PUDU_SECRETS_KEY"

	prefix   = "sealed:1:"
	keySize  = 32
	idSize   = 4 // of what tells keys apart
	maxPlain = 64 << 10
)

// Errors of sealed values; they come wrapped.
var (
	ErrNoKey    = errors.New("the key of sealed values is missing")
	ErrOtherKey = errors.New("the value was sealed with another key")
	ErrBroken   = errors.New("the sealed value is damaged, or of another user or purpose")
)

// Secrets seal and open values. They may be used from any goroutine.
type Secrets struct {
	path string // of the key's file; empty if the environment has the key

	mu  sync.Mutex
	key []byte // nil until there is one
}

// Open finds the key: value, as the environment has it, else the file in the folder. That there is none is no error:
// the first value to be sealed makes it.
func Open(dir, value string) (*Secrets, error) {
	s := &Secrets{}
	var err error
	if value = strings.TrimSpace(value); value != "" {
		if s.key, err = parse(value); err != nil {
			return nil, fmt.Errorf("%s: %w", Variable, err)
		}
		return s, nil
	}
	s.path = filepath.Join(dir, FileName)
	return s, s.read()
}

// read reads the key's file, if it is there.
func (s *Secrets) read() error {
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the key of sealed values: %w", err)
	}
	if s.key, err = parse(strings.TrimSpace(string(raw))); err != nil {
		return fmt.Errorf("%s: %w; put back the file as it was, or remove it: what was sealed with it, such as URLs "+
			"of "+
			"webhooks that were not called yet and keys of models, is lost then", s.path, err)
	}
	return nil
}

func parse(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("it is no key: a key is %d bytes as base64, from openssl rand -base64 %[1]d", keySize)
	}
	return key, nil
}

// load returns the key. Where there is none it makes one, if it may.
func (s *Secrets) load(mayMake bool) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil && s.path != "" { // another process may have made it
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	if s.key == nil && mayMake {
		if err := s.make(); err != nil {
			return nil, fmt.Errorf("make the key of sealed values: %w", err)
		}
	}
	if s.key == nil {
		return nil, fmt.Errorf("%w: there is neither %s nor %s", ErrNoKey, s.path, Variable)
	}
	return s.key, nil
}

// make writes a new key. If another process does so at the same moment, one of the two is everybody's.
func (s *Secrets) make() error {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	fresh := s.path + "-" + rand.Text()[:8]
	err := durable.Replace(fresh, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
	if err == nil {
		err = os.Link(fresh, s.path)
		err = errors.Join(ignore(err, fs.ErrExist), os.Remove(fresh), durable.Sync(filepath.Dir(s.path)))
	}
	if err != nil {
		return err
	}
	return s.read()
}

func ignore(err, which error) error {
	if errors.Is(err, which) {
		return nil
	}
	return err
}

// Sealed reports whether a text is a sealed value.
func Sealed(text string) bool { return strings.HasPrefix(text, prefix) }

// Bound are the secrets of one user.
type Bound struct {
	all  *Secrets
	user access.User
}

// For is what one user has.
func (s *Secrets) For(u access.User) Bound { return Bound{s, u} }

// Seal makes a text that Open opens for the same purpose. The first one ever makes the key.
func (b Bound) Seal(purpose, plain string) (string, error) {
	if len(plain) > maxPlain {
		return "", fmt.Errorf("seal a %s: it has %d bytes, more than %d", purpose, len(plain), maxPlain)
	}
	box, id, err := b.box(true)
	if err != nil {
		return "", fmt.Errorf("seal a %s: %w", purpose, err)
	}
	sealed := box.Seal(id, nil, []byte(plain), b.about(purpose)) //nolint:gosec // it makes its own nonce
	return prefix + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns what was sealed.
func (b Bound) Open(purpose, sealed string) (string, error) {
	plain, err := b.open(purpose, sealed)
	if err != nil {
		return "", fmt.Errorf("open a sealed %s: %w", purpose, err)
	}
	return plain, nil
}

func (b Bound) open(purpose, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, prefix)
	if !ok || len(text) > 2*maxPlain {
		return "", ErrBroken
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < idSize {
		return "", ErrBroken
	}
	box, id, err := b.box(false)
	switch {
	case err != nil:
		return "", err
	case !bytes.Equal(raw[:idSize], id):
		return "", ErrOtherKey
	}
	plain, err := box.Open(nil, nil, raw[idSize:], b.about(purpose))
	if err != nil {
		return "", ErrBroken
	}
	return string(plain), nil
}

// box seals with the user's own key; id tells the key that it comes of.
func (b Bound) box(mayMake bool) (box cipher.AEAD, id []byte, err error) {
	if err := b.user.Check(); err != nil {
		return nil, nil, err
	}
	key, err := b.all.load(mayMake)
	if err != nil {
		return nil, nil, err
	}
	own, err := hkdf.Key(sha256.New, key, nil, "pudu secrets of "+b.user.ID(), keySize)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, nil, err
	}
	box, err = cipher.NewGCMWithRandomNonce(block)
	sum := sha256.Sum256(append([]byte("pudu key "), key...))
	return box, sum[:idSize:idSize], err
}

// about is what a sealed value is bound to beside its key.
func (b Bound) about(purpose string) []byte { return []byte(prefix + purpose + "\x00" + b.user.ID()) }
