package memory

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
)

// evict makes room where a fact was added: of those for the same agent and folder there may be so many. The weakest go, which may be
// the new one. Of proposed ones the oldest go.
func (e *edit) evict(added *Fact, batch string) {
	set := e.all.Settings().Backend
	var list, proposed []*Fact
	for _, f := range e.facts {
		switch {
		case f.Status == Proposed:
			proposed = append(proposed, f)
		case f.Status == Active && f.Agent == added.Agent && f.Folder == added.Folder:
			list = append(list, f)
		}
	}
	if n := len(list) - set.MaxFacts; n > 0 {
		keep := reserved(list, set)
		list = slices.DeleteFunc(list, func(f *Fact) bool { return keep[f.ID] })
		slices.SortFunc(list, func(a, b *Fact) int { return weaker(a, b, set, e.now) })
		for _, f := range list[:min(n, len(list))] {
			e.set(f, Gone, ActEvicted, batch, "there may be no more facts")
		}
	}
	slices.SortFunc(proposed, func(a, b *Fact) int { return cmp.Compare(a.seq, b.seq) })
	for _, f := range proposed[:max(0, len(proposed)-MaxProposed)] {
		e.set(f, Gone, ActEvicted, batch, "there may wait no more facts")
	}
}

// weaker orders facts: the one that goes first is the first. Of equals the older goes.
func weaker(a, b *Fact, set config.MemoryBackend, now time.Time) int {
	return cmp.Or(cmp.Compare(strength(a, set, now), strength(b, set, now)), cmp.Compare(a.seq, b.seq))
}

// strength is how much a fact is worth keeping.
func strength(f *Fact, set config.MemoryBackend, now time.Time) float64 {
	if set.Eviction != "hybrid-v1" {
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

// reserved are the corrections that stay whatever they are worth, by hybrid-v1 alone: a part of the room, the strongest of them.
func reserved(list []*Fact, set config.MemoryBackend) map[string]bool {
	keep := make(map[string]bool)
	if set.Eviction != "hybrid-v1" {
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
