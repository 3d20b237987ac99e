package memory

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/message"
)

// lesson is what a conversation has to teach: what was said, what a model made of it, and by which rules that counts.
type lesson struct {
	answer

	heard                        heard
	thread, agent, folder, batch string
	set                          config.MemoryBackend
	spend                        func(model string, u message.Usage)
	confirms                     bool            // the user has said that something was right
	shown, stale                 map[string]bool // facts that the model was shown, and those of them that are old
	untrue                       map[string]bool // facts that a second look found to be so
	left                         map[string]int  // what was left out, and why
	made                         map[int]string  // the ids of new facts that have survived, by their indexes
}

// The labels of what may be kept.
const (
	ofUserScope    = "user"
	ofProjectScope = "project"
	durable        = "durable"
	descriptive    = "descriptive"
)

// apply changes the memory by what was learned.
func (l *lesson) apply(e *edit) {
	l.left, l.made = make(map[string]int), make(map[int]string)
	for i := range l.Facts {
		l.fact(e, i)
	}
	l.remove(e)
	l.reinforce(e)
	l.review(e)
	l.consolidate(e)
	l.summaries(e)
}

func (l *lesson) leave(why string) { l.left[why]++ }

// labelled says what is wrong with the labels that a model gave a fact.
func (l *lesson) labelled(f *factAnswer) string {
	switch {
	case f.Scope != ofUserScope && (f.Scope != ofProjectScope || l.folder == ""):
		return "it is not about the user"
	case f.Durability != durable:
		return "it does not last"
	case f.Authority != descriptive:
		return "it is an order or a permission"
	case f.Confidence < l.set.Confidence:
		return "it is not sure enough"
	}
	return ""
}

// admit makes a fact of what a model says, or says why there is none.
func (l *lesson) admit(e *edit, a *factAnswer) (f Fact, src Source, why string) {
	if why = l.labelled(a); why != "" {
		return f, src, why
	}
	found := l.heard.of(a.Content, a.Quote)
	quote := a.Quote
	if found.mark != "" { // what is not the user's own may not stand beside an instruction either
		quote = ""
	}
	if why = forbidden(a.Content, quote, found.sentence); why != "" {
		return f, src, why
	}
	f = Fact{
		ID: e.fresh(), Status: Active, Content: a.Content, Agent: l.agent, Thread: l.thread,
		Confidence: min(a.Confidence, 1), Revision: 1, CreatedAt: e.now, UpdatedAt: e.now,
		Rest: Rest{Source: Conversation, Mark: found.mark, ValidDays: l.lifetime(a.ValidDays)},
	}
	f.SetCategory(strings.ToLower(a.Category))
	if f.Category == Correction && poison(a.SourceError) == "" {
		f.SourceError = cut(a.SourceError, MaxContent)
	}
	if a.Scope == ofProjectScope {
		f.Folder = l.folder
	}
	if f.Mark == "" && mild.MatchString(a.Content) {
		f.Mark = Unclear
	}
	if f.Mark != "" {
		f.Status = Proposed
	}
	if err := f.check(); err != nil {
		return f, src, "it is no fact"
	}
	return f, Source{Thread: l.thread, Message: found.message, At: e.now, Words: cut(found.sentence, MaxContent),
		fact: f.ID}, ""
}

// lifetime is how many days a fact is expected to hold; 0 is not known.
func (l *lesson) lifetime(days float64) int {
	if !(days >= 1) { // nor NaN
		return 0
	}
	return int(math.Min(days, float64(l.set.StaleAge)*l.set.LifeMultiplier))
}

// fact adds the new fact of an index.
func (l *lesson) fact(e *edit, i int) {
	f, src, why := l.admit(e, &l.Facts[i])
	if why == "" && e.known(&f) {
		why = "it is known, or was refused"
	}
	if why != "" {
		l.leave(why)
		return
	}
	act := ActAdded
	if f.Status == Proposed {
		act = ActProposed
	}
	e.put(f, act, l.batch, "")
	if e.evict(&f, l.batch); e.get(f.ID).Status == Gone {
		l.leave("there may be no more facts")
		return
	}
	if src.Message != "" {
		e.sources = append(e.sources, src)
	}
	l.made[i] = f.ID
}

// wanted is an active fact that the model was shown; nil for any other.
func (l *lesson) wanted(e *edit, id string) *Fact {
	if f := e.get(id); f != nil && f.Status == Active && l.shown[id] {
		return f
	}
	return nil
}

// remove has facts go that the user has said are untrue now: new beats old, and both are in the history. One whose
// replacement was not kept stays; one whose replacement waits for a yes waits for that too.
func (l *lesson) remove(e *edit) {
	for _, r := range l.Remove {
		f := l.wanted(e, r.ID)
		if f == nil || r.Scope != ofUserScope || !l.untrue[f.ID] {
			continue
		}
		if r.Replacement == nil {
			e.set(f, Gone, ActRemoved, l.batch, cut(oneLine(r.Reason), maxReason))
			continue
		}
		next := e.get(l.made[*r.Replacement])
		if next == nil || next.ID == f.ID || next.Status == Gone {
			continue
		}
		linked := *next
		linked.Replaces = f.ID
		e.facts[next.ID], e.puts[next.ID] = &linked, true
		e.relate(&linked)
		if next.Status == Active {
			e.replace(f.ID, l.batch, cut("replaced by "+next.ID+": "+oneLine(r.Reason), maxReason))
		}
	}
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

// relate has the entry of a new fact say what it replaces.
func (e *edit) relate(f *Fact) {
	for i := range e.notes {
		if n := &e.notes[i]; n.fact == f.ID && n.body.Before == nil {
			after := *f
			n.body.After = &after
		}
	}
}

// reinforce confirms facts, if the user has said that something was right.
func (l *lesson) reinforce(e *edit) {
	for _, r := range l.Reinforce {
		f := l.wanted(e, r.ID)
		if f == nil || r.Scope != ofUserScope || !l.confirms || f.ConfirmedAt.Equal(e.now) {
			continue
		}
		c := *f
		c.Confirmations, c.ConfirmedAt = c.Confirmations+1, e.now
		e.put(c, ActConfirmed, l.batch, cut(oneLine(r.Reason), maxReason))
	}
}

// review removes and extends facts that are old.
func (l *lesson) review(e *edit) {
	removed := 0
	for _, r := range l.Stale {
		if f := l.wanted(e, r.ID); f != nil && l.stale[f.ID] && removed < l.set.StaleRemovals {
			e.set(f, Gone, ActRemoved, l.batch, cut("old: "+oneLine(r.Reason), maxReason))
			removed++
		}
	}
	for _, r := range l.Extend {
		f := l.wanted(e, r.ID)
		if f == nil || !l.stale[f.ID] || !(r.Days >= 1) {
			continue
		}
		c := *f
		days := int(e.now.Sub(f.since()).Hours()/24) + int(math.Min(r.Days, float64(l.set.ExtensionDays)))
		c.ValidDays = min(days, int(float64(l.set.StaleAge)*l.set.LifeMultiplier)+l.set.ExtensionDays)
		e.put(c, ActConfirmed, l.batch, cut("holds for longer: "+oneLine(r.Reason), maxReason))
	}
}

// since is when a fact was last known to hold.
func (f *Fact) since() time.Time {
	if f.ConfirmedAt.After(f.CreatedAt) {
		return f.ConfirmedAt
	}
	return f.CreatedAt
}

// old are the facts that have outlived what they were expected to, the oldest first; nil unless there are enough of
// them.
func old(list []*Fact, set config.MemoryBackend, now time.Time) (out []*Fact) {
	for _, f := range list {
		if !slices.Contains(set.StaleProtected, f.Category) &&
			days(now.Sub(f.since())) > float64(cmp.Or(f.ValidDays, set.StaleAge)) {
			out = append(out, f)
		}
	}
	if !set.Staleness || len(out) < set.StaleCandidates {
		return nil
	}
	slices.SortFunc(out,
		func(a, b *Fact) int { return cmp.Or(a.since().Compare(b.since()), cmp.Compare(a.seq, b.seq)) })
	const most = 50
	return out[:min(len(out), most)]
}

// consolidate makes one fact of several of a category, if that is switched on.
func (l *lesson) consolidate(e *edit) {
	if !l.set.Consolidation {
		return
	}
	for _, c := range l.Consolidate[:min(len(l.Consolidate), l.set.ConsolidationGroups)] {
		l.into(e, &c)
	}
}

func (l *lesson) into(e *edit, c *consolidation) {
	var sources []*Fact
	sure := 0.0
	for _, id := range slices.Compact(slices.Sorted(slices.Values(c.Sources))) {
		f := l.wanted(e, id)
		if f == nil || len(sources) > 0 && (f.Category != sources[0].Category || f.Agent != sources[0].Agent ||
			f.Folder != sources[0].Folder) {
			return
		}
		sources, sure = append(sources, f), max(sure, f.Confidence)
	}
	if len(sources) < 2 || len(sources) > l.set.ConsolidationSources || poison(c.Into.Content) != "" {
		return
	}
	// A fact of facts says no more than those: the most of its words, and all of its numbers, are theirs.
	var all heard
	for _, f := range sources {
		all.turns = append(all.turns, turn{ID: f.ID, Human: true, Text: f.Content, Own: f.Content})
	}
	var text []string
	for _, t := range all.turns {
		text = append(text, t.Own)
	}
	if share(c.Into.Content, strings.Join(text, "\n")) < 2.0/3 || !all.nothingNew(c.Into.Content) {
		return
	}
	f := *sources[0]
	f.ID, f.Content, f.Confidence, f.Revision, f.CreatedAt, f.UpdatedAt = e.fresh(), c.Into.Content,
		min(c.Into.Confidence, sure), 1, e.now, e.now
	f.UsedAt, f.Uses = time.Time{}, 0
	f.Rest = Rest{Source: Consolidated, Extension: f.Extension, SourceError: f.SourceError, ValidDays: f.ValidDays}
	for _, s := range sources {
		f.From = append(f.From, s.ID)
	}
	if f.check() != nil || e.known(&f) {
		return
	}
	e.put(f, ActAdded, l.batch, "made of others")
	for _, s := range sources {
		e.replace(s.ID, l.batch, "consolidated in "+f.ID)
	}
}

// uploads are sentences on files that came with a message: they say nothing of the user.
var uploads = anyOf(`[^.。\n]*\b(?:uploaded|attached)\b[^.。\n]*[.。]?`, `[^。.\n]*(?:上传|附件)[^。.\n]*[。.]?`)

// summaries takes over those that say what they may.
func (l *lesson) summaries(e *edit) {
	next := e.sections
	known := make(map[string]summaryAnswer)
	maps.Copy(known, l.User)
	maps.Copy(known, l.History)
	said := heard{turns: l.heard.turns}
	next.each(func(name string, s *Section) {
		a, there := known[name]
		text := strings.TrimSpace(uploads().ReplaceAllString(a.Summary, ""))
		switch {
		case !there || !a.Update || text == "" || text == s.Summary:
			return
		case a.Scope != ofUserScope || a.Authority != descriptive:
			l.leave("a summary is not about the user")
			return
		case poison(text) != "":
			l.leave(poison(text))
			return
		}
		was := heard{turns: append(slices.Clone(said.turns), turn{Human: true, Own: s.Summary})}
		if !was.nothingNew(text) {
			l.leave("a summary has what the user did not say")
			return
		}
		s.Summary, s.UpdatedAt = database.Plain(cut(text, maxSummary)), Stamp(e.now)
	})
	if next != e.sections {
		before := e.sections
		e.sections = next
		e.notes = append(e.notes, note{act: ActSummary, batch: l.batch, body: changed{Sections: &before}})
	}
}
