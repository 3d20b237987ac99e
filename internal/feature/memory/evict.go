package memory

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
)

// evict makes room where a fact was added: of those for the same agent and folder there may be so many. The weakest go,
// which may be the new one. Of proposed ones the oldest go.
func (e *edit) evict(added *Fact, batch string) {
	set := e.all.Settings().Backend
	alike := func(f *Fact) bool { return f.Status == Active && f.Agent == added.Agent && f.Folder == added.Folder }
	if n := e.count(alike, "crowded", added.Agent, added.Folder) - set.MaxFacts; n > 0 {
		most := n + len(e.facts) // of those that were looked at some are no more as weak as they were stored
		if set.Eviction == hybrid {
			most = maxRows
		}
		list := e.those(alike, "weakest", added.Agent, added.Folder, most)
		keep := reserved(list, set)
		list = slices.DeleteFunc(list, func(f *Fact) bool { return keep[f.ID] })
		slices.SortFunc(list, func(a, b *Fact) int { return weaker(a, b, set, e.now) })
		for _, f := range list[:min(n, len(list))] {
			e.set(f, Gone, ActEvicted, batch, "there may be no more facts")
		}
	}
	if added.Status != Proposed {
		return
	}
	waiting := e.those(func(f *Fact) bool { return f.Status == Proposed }, "facts", Proposed, "", maxRows)
	for _, f := range waiting[:max(0, len(waiting)-MaxProposed)] {
		e.set(f, Gone, ActEvicted, batch, "there may wait no more facts")
	}
}

// count is how many facts fit, by a statement that counts those that are stored.
func (e *edit) count(fit func(*Fact) bool, statement string, args ...any) (n int) {
	e.read(statement, func(r database.Row) (bool, error) { return false, r.Scan(&n) }, args...)
	for id, f := range e.facts {
		if was := e.stored[id]; was != nil && fit(was) {
			n--
		}
		if f != nil && fit(f) {
			n++
		}
	}
	return n
}

// hybrid is the policy that asks for more than the confidence.
const hybrid = "hybrid-v1"

// weaker orders facts: the one that goes first is the first. Of equals the older goes.
func weaker(a, b *Fact, set config.MemoryBackend, now time.Time) int {
	return cmp.Or(cmp.Compare(strength(a, set, now), strength(b, set, now)), cmp.Compare(a.seq, b.seq))
}

// strength is how much a fact is worth keeping.
func strength(f *Fact, set config.MemoryBackend, now time.Time) float64 {
	if set.Eviction != hybrid {
		return f.Confidence
	}
	confirmed := f.ConfirmedAt
	if confirmed.IsZero() {
		confirmed = f.CreatedAt
	}
	return set.ConfidenceWeight*f.Confidence + set.ConfirmationWeight*fading(confirmed, now, set.ConfirmationLife) +
		set.AccessWeight*fading(f.UsedAt, now, set.AccessLife)
}

// fading is 1 at a time and half as much after each half life; 0 for what never was.
func fading(at, now time.Time, halfLife float64) float64 {
	if at.IsZero() {
		return 0
	}
	return math.Exp2(-max(0, days(now.Sub(at))) / halfLife)
}

// reserved are the corrections that stay whatever they are worth, by hybrid-v1 alone: a part of the room, the strongest
// of them.
func reserved(list []*Fact, set config.MemoryBackend) map[string]bool {
	keep := make(map[string]bool)
	if set.Eviction != hybrid {
		return keep
	}
	var corrections []*Fact
	for _, f := range list {
		if f.Category == Correction {
			corrections = append(corrections, f)
		}
	}
	slices.SortFunc(corrections, func(a, b *Fact) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.seq, a.seq))
	})
	n := min(int(set.ReservedFraction*float64(set.MaxFacts)), set.ReservedMax, len(corrections))
	for _, f := range corrections[:n] {
		keep[f.ID] = true
	}
	return keep
}
