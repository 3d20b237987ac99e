package logctx

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

func TestLinesNameWhatTheyAreAbout(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(Handler(slog.NewTextHandler(&out, nil))).With("node", "a")
	ctx := With(t.Context(), IDs{Request: "r1", Token: "ci"})
	log.InfoContext(With(ctx, IDs{Run: "run1", Thread: "t1", User: "u"}), "one")
	log.InfoContext(ctx, "two")
	log.InfoContext(context.Background(), "three")
	for i, want := range []string{
		"msg=one node=a request=r1 token=ci run=run1 thread=t1 user=u", "msg=two node=a request=r1 token=ci",
		"msg=three node=a",
	} {
		line := strings.Split(out.String(), "\n")[i]
		if !strings.HasSuffix(line, want) {
			t.Errorf("%q does not end with %q", line, want)
		}
	}
	if ids := Of(With(ctx, IDs{Request: "r2"})); ids != (IDs{Request: "r2", Token: "ci"}) {
		t.Errorf("%+v", ids)
	}
}
