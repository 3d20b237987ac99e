// Package bearer keeps the named tokens that callers of a server bring. They stand in a file, one a line, which
// commands add to and take from while servers look at it: a token counts from the next request on after it was added,
// and not after it was revoked.
//
// The file has no token but its SHA-256. A hash that is slow on purpose, as passwords need, would protect nothing here:
// a token is 130 random bits and is never guessed, however fast the hash is; and it would cost each request a tenth of
// a second.
package bearer

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Bounds of a file.
const (
	// MaxTokens bounds the tokens of a file.
	MaxTokens = 1000
	maxBytes  = 1 << 20
)

// prefix tells people, and programs that look for secrets in the open, what a token is for.
const prefix = "pudu_"

// Token is a line of the file.
type Token struct {
	Name    string
	Created time.Time

	hash [sha256.Size]byte
}

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// newToken makes a token: what the caller is to keep, and what the file has of it.
func newToken(called string, now time.Time) (secret string, t Token, err error) {
	if !name.MatchString(called) {
		return "", t, fmt.Errorf("%.80q is no name for a token: take up to 64 letters, digits, and ._- within", called)
	}
	secret = prefix + rand.Text()
	return secret, Token{Name: called, Created: now.UTC().Truncate(time.Second), hash: sha256.Sum256([]byte(secret))},
		nil
}

const header = "# Tokens of pudu's callers: name, SHA-256, when it was made. pudu token add NAME | list | revoke NAME\n"

// format writes a file.
func format(tokens []Token) []byte {
	b := bytes.NewBufferString(header)
	for _, t := range tokens {
		fmt.Fprintf(b, "%s %s %s\n", t.Name, hex.EncodeToString(t.hash[:]), t.Created.Format(time.RFC3339))
	}
	return b.Bytes()
}

// parse reads a file. What it cannot read it leaves out, and says so.
func parse(text string) (tokens []Token, err error) {
	var faults []error
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		t, err := parseLine(line)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("line %d: %w", n, err))
		case len(tokens) == MaxTokens:
			return tokens, errors.Join(append(faults, fmt.Errorf("line %d: more than %d tokens", n, MaxTokens))...)
		default:
			tokens = append(tokens, t)
		}
	}
	return tokens, errors.Join(faults...)
}

func parseLine(line string) (t Token, err error) {
	parts := strings.Fields(line)
	if len(parts) != 3 || !name.MatchString(parts[0]) {
		return t, errors.New("a token has a name, a hash and a time, with blanks between them")
	}
	hash, err := hex.DecodeString(parts[1])
	if err != nil || len(hash) != sha256.Size {
		return t, errors.New("the hash is not 64 digits of hexadecimal")
	}
	t.Name = parts[0]
	copy(t.hash[:], hash)
	t.Created, err = time.Parse(time.RFC3339, parts[2])
	return t, err
}
