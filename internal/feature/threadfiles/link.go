package threadfiles

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/secrets"
)

const (
	// Valid is how long a link to a thread's files can be used at least; steps of step make links that are asked for
	// again the same for a while, so that a page that is open is not loaded anew.
	Valid = time.Hour
	step  = 10 * time.Minute

	purpose = "preview"
	maxLink = 1024
)

// Errors of links.
var (
	ErrNoLink  = errors.New("this is no link to a preview")
	ErrExpired = errors.New("the link to this preview has expired; open it again from its thread")
)

// Links make and open links to the files of a thread. Who has one may look at the files until it expires, without
// anything else: a page that is shown by it needs no cookie, and gets none.
type Links struct{ secrets *secrets.Secrets }

// NewLinks makes links that are signed with a key of the installation.
func NewLinks(s *secrets.Secrets) *Links { return &Links{s} }

// Make makes a link, and says when it expires.
func (l *Links) Make(u access.User, thread string, now time.Time) (link string, until time.Time, err error) {
	if err := u.Check(); err != nil {
		return "", until, err
	}
	if len(u.ID()) > math.MaxUint8 {
		return "", until, fmt.Errorf("make a link: the id of the user has %d bytes", len(u.ID()))
	}
	until = now.Add(Valid).Truncate(step).Add(step)
	body := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	body = append(body, byte(len(u.ID())))
	body = append(body, u.ID()+thread...)
	mac, err := l.secrets.Sign(purpose, body)
	if err != nil {
		return "", until, err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, body...)), until, nil
}

// Open is whose files a link is to: [ErrNoLink] if it was not made here, or is changed, [ErrExpired] if it is too old.
func (l *Links) Open(link string, now time.Time) (u access.User, thread string, err error) {
	const head = 8 + 1
	if len(link) > maxLink {
		return u, "", ErrNoLink
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(link)
	if err != nil || len(raw) < secrets.SignatureSize+head {
		return u, "", ErrNoLink
	}
	body := raw[secrets.SignatureSize:]
	if !l.secrets.Signed(purpose, body, raw[:secrets.SignatureSize]) {
		return u, "", ErrNoLink
	}
	n := int(body[head-1]) // as Make has written it
	if now.Unix() >= int64(binary.BigEndian.Uint64(body)) {
		return u, "", ErrExpired
	}
	return access.FromRow(string(body[head : head+n])), string(body[head+n:]), nil
}
