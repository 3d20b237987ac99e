package memory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

// BenchmarkSearch looks through 10,000 facts of a user, on both databases: a word that every fact has, one of a tenth
// of them, one of a single fact, two Chinese characters, and one that is nowhere.
func BenchmarkSearch(b *testing.B) {
	databases.Bench(b, feature.All(), func(b *testing.B, st database.Store) {
		const n = memory.MaxImport
		settings := config.Default().Memory
		settings.Backend.MaxFacts = n
		mine := memory.New(memory.Config{Store: st, Settings: func() config.Memory { return settings }}).
			For(access.FromRow("ann"))
		d := memory.Document{Facts: make([]memory.FactDoc, n)}
		kinds := []string{"tea", "coffee", "cats", "Lund", "chess", "喜欢喝绿茶", "bread", "trains", "maps", "rain"}
		for i := range d.Facts {
			sure := 0.5 + float64(i%50)/100
			d.Facts[i] = memory.FactDoc{
				ID: fmt.Sprint("fact_", i), Content: fmt.Sprintf("The person likes %s, as they said on day %d",
					kinds[i%len(kinds)], i), Category: "context", Confidence: &sure,
			}
		}
		if err := mine.Import(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		queries := []string{"person", "chess", "4711", "绿茶", "nowhere"}
		names := []string{"of-all", "of-a-tenth", "of-one", "two-characters", "of-none"}
		var took []time.Duration
		each := make([][]time.Duration, len(queries))
		for b.Loop() {
			for i, q := range queries {
				began := time.Now()
				hits, err := mine.Search(b.Context(), memory.Query{Words: q, Limit: 20})
				spent := time.Since(began)
				took, each[i] = append(took, spent), append(each[i], spent)
				if err != nil || len(hits) == 0 && q != "nowhere" {
					b.Fatalf("%q: %d hits, %v", q, len(hits), err)
				}
			}
		}
		slices.Sort(took)
		for i, name := range names {
			slices.Sort(each[i])
			b.ReportMetric(float64(each[i][len(each[i])/2].Microseconds())/1000, name+"-ms-p50")
		}
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
		b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-p95")
	})
}
