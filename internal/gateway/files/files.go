package files

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

// open opens the files of a thread of the caller's; the caller closes them. A thread that is not there yet has files too:
// clients upload before they send the first message.
func (g *Group) open(ctx context.Context, threadID string) (*sandbox.Files, error) {
	return g.Files(ctx, route.Caller(ctx).User, threadID)
}

// storeError gives an error of storing a file the answer that says what is wrong, if it is known.
func storeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return route.Failf(http.StatusInsufficientStorage, "There is no space left on the server's disk")
	}
	return err
}

// percent escapes everything but letters, digits and "-._~", as URLs and file names in headers need it.
func percent(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
