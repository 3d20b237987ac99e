package history

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/transcript"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
)

// write writes the conversation of a thread, reading it by pages.
func write(ctx context.Context, mine *history.Mine, t store.Thread, f transcript.Format, now time.Time,
	w io.Writer) error {
	about := transcript.About{ID: t.ID, Title: t.Title, Created: t.CreatedAt, Changed: t.UpdatedAt, Written: now}
	return transcript.Write(w, f, about, func(yield func(transcript.Message, error) bool) {
		for m, err := range mine.All(ctx, t.ID) {
			if !yield(transcript.Message{Raw: m.Content, RunID: m.RunID, At: m.At}, err) {
				return
			}
		}
	})
}

type exportIn struct {
	Thread store.Thread `of:"thread"`
	Format string       `query:"format" enum:"md,json,html"`
}

// export sends the conversation of a thread as it is read. Once it has begun, the cut connection says that it is not
// whole.
func (g *Group) export(w http.ResponseWriter, r *http.Request, in *exportIn) error {
	f := transcript.Format(in.Format)
	h := w.Header()
	if r.Method == http.MethodHead {
		g.describe(h, in.Thread, f)
		return nil // it would be made for nobody
	}
	out := &begun{Writer: g.SteadyWriter(w), begin: func() { g.describe(h, in.Thread, f) }}
	err := write(r.Context(), g.mine(r.Context()), in.Thread, f, g.Now(), out)
	if err != nil && out.begin == nil {
		g.Log.WarnContext(r.Context(), "a download broke off", "thread", in.Thread.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

func (*Group) describe(h http.Header, t store.Thread, f transcript.Format) {
	h.Set("Content-Type", f.Media())
	h.Set("Content-Disposition", route.Attachment(threadfiles.FileName(t.Title, t.ID)+"."+string(f)))
	h.Set("Content-Security-Policy", "sandbox; "+transcript.Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-store")
}

// begun calls begin before the first byte; then it is nil.
type begun struct {
	io.Writer

	begin func()
}

// Write implements [io.Writer].
func (b *begun) Write(p []byte) (int, error) {
	if b.begin != nil {
		b.begin()
		b.begin = nil
	}
	return b.Writer.Write(p)
}
