package job_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

// BenchmarkAsk is a step that asks for one job, of a user who has so many that wait.
func BenchmarkAsk(b *testing.B) {
	for _, waiting := range []int{0, 4000} {
		b.Run(strconv.Itoa(waiting), func(b *testing.B) {
			databases.Bench(b, feature.All(), func(b *testing.B, st database.Store) {
				ctx, now := context.Background(), time.Now()
				_, err := st.For(access.FromRow("ann")).Admit(ctx, store.Admission{
					Thread: store.Thread{ID: "t"}, Run: store.Run{ID: "r", ThreadID: "t", Owner: "me", CreatedAt: now}})
				if err != nil {
					b.Fatal(err)
				}
				ask := func(jobs ...store.NewJob) {
					if _, err := st.System().Commit(ctx, store.Fence{RunID: "r", Attempt: 1},
						store.Step{Jobs: jobs, Now: now}); err != nil {
						b.Fatal(err)
					}
				}
				var jobs []store.NewJob
				for i := range waiting {
					jobs = append(jobs, note(fmt.Sprint("waits ", i), `1`))
				}
				ask(jobs...)
				b.ResetTimer()
				for i := range b.N {
					ask(note(fmt.Sprint("new ", i%900), `1`)) // no user has more than 5,000
				}
			})
		})
	}
}
