//go:build unix

package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
)

// vocabulary has words as a language does: few of them make most of a text, and nearly every third one is Chinese.
type vocabulary struct {
	words []string
	rnd   *rand.Rand
	zipf  *rand.Zipf
}

func newVocabulary() *vocabulary {
	v := &vocabulary{rnd: rand.New(rand.NewPCG(1, 2))}
	for i := range 30_000 {
		var b strings.Builder
		for range 1 + v.rnd.IntN(4) {
			if i%3 == 2 {
				b.WriteRune(rune(0x4E00 + v.rnd.IntN(3000)))
				continue
			}
			b.WriteByte("bcdfghklmnprstvwz"[v.rnd.IntN(17)])
			b.WriteByte("aeiouy"[v.rnd.IntN(6)])
		}
		v.words = append(v.words, b.String())
	}
	v.zipf = rand.NewZipf(v.rnd, 1.1, 2, uint64(len(v.words)-1))
	return v
}

func (v *vocabulary) text() string {
	list := make([]string, 20+v.rnd.IntN(160))
	for i := range list {
		list[i] = v.words[v.zipf.Uint64()]
	}
	return strings.Join(list, " ")
}

// processorTime is what this process has used, the database in it included: on a busy machine it says more than the
// clock.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFind looks through 100,000 messages of a user, on both databases. p95 is of 400 queries: words of one to
// three, frequent and rare, phrases, exclusions, and words that are being typed.
func BenchmarkFind(b *testing.B) {
	databases.Bench(b, feature.All(), func(b *testing.B, f database.Store) {
		const threads, each = 1000, 100
		ann := access.FromRow("ann")
		v := newVocabulary()
		indexer := search.NewIndexer(search.Config{Store: f,
			Content: func(_ context.Context, _ access.User, id string) (search.Content, error) {
				i := len(id) * 7
				c := search.Content{Thread: store.Thread{ID: id, Title: v.words[i%1000], UpdatedAt: now}}
				for i := range each {
					m := message.New([]message.Role{message.Human, message.AI}[i%2], v.text())
					m.ID = fmt.Sprint(i)
					c.Messages = append(c.Messages, m)
				}
				return c, nil
			}})
		begun := time.Now()
		for i := range threads {
			id := fmt.Sprint("t", i)
			err := f.For(ann).CreateThread(b.Context(), store.Thread{ID: id, CreatedAt: now, UpdatedAt: now})
			if err == nil {
				err = indexer.Index(b.Context(), ann, id)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.Logf("%v a message, %d MiB", time.Since(begun)/threads/each, f.Stats().Bytes>>20)
		mine := search.New(f, nil).For(ann)
		for name, query := range map[string]func() string{
			"frequent": func() string { return v.words[v.rnd.IntN(5)] + " " },
			"word":     func() string { return v.words[v.zipf.Uint64()] + " " },
			"rare":     func() string { return v.words[5000+v.rnd.IntN(25_000)] + " " },
			"two":      func() string { return v.words[v.zipf.Uint64()] + " " + v.words[v.zipf.Uint64()] + " " },
			"rare two": func() string { return v.words[v.rnd.IntN(100)] + " " + v.words[500+v.rnd.IntN(1000)] + " " },
			"three": func() string {
				return v.words[v.rnd.IntN(9)] + " " + v.words[v.rnd.IntN(99)] + " " + v.words[v.rnd.IntN(999)] + " "
			},
			"phrase":  func() string { return `"` + v.words[v.rnd.IntN(9)] + " " + v.words[v.rnd.IntN(99)] + `"` },
			"without": func() string { return v.words[v.rnd.IntN(9)] + " -" + v.words[v.rnd.IntN(9)] },
			"typing":  func() string { return "bcdfghklmnprstvwz"[v.rnd.IntN(17):][:1] + "aeiouy"[v.rnd.IntN(6):][:1] },
			"sign":    func() string { return string(rune(0x4E00 + v.rnd.IntN(3000))) },
			"none":    func() string { return "qqqqq " },
		} {
			b.Run(name, func(b *testing.B) {
				var took, worked []time.Duration
				for b.Loop() {
					for range 100 {
						begun, cpu := time.Now(), processorTime(b)
						_, _, err := mine.Find(b.Context(), search.Query{Words: query(), Limit: 20})
						took, worked = append(took, time.Since(begun)), append(worked, processorTime(b)-cpu)
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				slices.Sort(took)
				slices.Sort(worked)
				b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(worked[len(worked)*95/100].Microseconds())/1000, "p95-cpu-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	})
}
