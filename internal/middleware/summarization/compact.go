package summarization

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// job is one attempt to make what is sent of a conversation smaller.
type job struct {
	state state.State
	all   []message.Message
	last  compaction.Compaction
	meter meter           // of the whole request
	model model.ChatModel // of the run; nil means the configured one
	keep  Amount
	sent  []message.Message // all as wrappers outside have made it; nil where that is not known
	// goal is the size to aim at, must the size that the request has to have; 0 means that size does not matter.
	goal, must int
	// cut asks for a cut also where shortened results would do.
	cut bool
	// stale: the summary is of a conversation that is no longer this one.
	stale bool
	block int // the room for the durable block
}

// outcome is what came of a job.
type outcome struct {
	next    compaction.Compaction
	meter   meter
	summary string // the thread's new summary; empty if it stays
	spent   spending
	changed bool
	removed int // messages that were sent and are not any more
	kept    int
	fits    bool // into must
}

// newJob prepares an attempt. A compaction whose cut the conversation no longer has counts for nothing.
func newJob(s state.State, keep Amount) *job {
	j := &job{state: s, all: agent.Messages.Get(s), last: compaction.Channel.Get(s), meter: meterChannel.Get(s),
		keep: keep}
	if j.last.Upto != "" && j.last.Start(j.all) == 0 {
		j.last, j.stale = compaction.Compaction{Number: j.last.Number}, true
	}
	return j
}

// do makes the attempt, in stages: results that the model has seen are shortened, then what is older is summed up and
// cut, and last, if it must be, whatever does not fit. An error is that of the summary; nothing has changed then.
func (m *Middleware) do(ctx context.Context, j *job) (*outcome, error) {
	p := newPlan(&j.last, j.all, j.sent)
	room, most := j.rooms(p)
	if !j.cut {
		p.shortenSeen(room)
	}
	j.block = min(mostBlock, max(leastBlock, min(room, most)/4))
	if j.cut || p.total() > room {
		m.cut(p, j, room)
	}
	fits := p.total() <= most
	if !fits {
		fits = p.squeeze(most, j.block)
	}
	out := &outcome{fits: fits, meter: j.meter, next: j.last}
	if err := m.finish(ctx, j, p, out, most); err != nil {
		return out, err
	}
	return out, nil
}

// rooms are what goal and must leave for the messages as the plan counts them. Where it does not know what wrappers
// add, it takes each message to be as much larger as the whole is.
func (j *job) rooms(p *plan) (goal, must int) {
	goal, must = unbounded, unbounded
	larger := max(1, float64(j.meter.Raw-j.meter.Fixed)/float64(max(1, p.total())))
	if j.goal > 0 {
		goal = int(float64(max(j.meter.room(j.goal), 200)) / larger)
	}
	if guess := j.sent == nil && larger > 1.25; j.must > 0 && !guess { // else it is left to the guard of the call
		must = int(float64(j.meter.room(j.must)) / larger)
	}
	return goal, must
}

// cut looks for a better plan that cuts something. What takes away next to nothing is not worth a call of a model.
func (m *Middleware) cut(p *plan, j *job, room int) {
	better := newPlan(&j.last, j.all, j.sent)
	better.choose(j.keep, m.cfg.Window, room, j.block)
	if count, size := better.removed(); count > 0 && (j.cut || size > room/20) {
		*p = *better
	}
}

// finish gets the summary and makes the compaction of the plan.
func (m *Middleware) finish(ctx context.Context, j *job, p *plan, out *outcome, most int) error {
	facts := compaction.Facts{Summary: threadstate.SummaryText.Get(j.state)}
	if j.stale {
		facts.Summary = ""
	}
	next := compaction.Compaction{Upto: j.last.Upto, Summarized: j.last.Summarized, Block: j.last.Block,
		Number: j.last.Number + 1}
	if p.cut > p.start {
		next.Upto = p.all[p.cut-1].ID
		text, spent, err := m.summarize(ctx, j.model, facts.Summary, p.all[j.covered():p.cut])
		out.spent = spent
		switch {
		case err != nil && (ctx.Err() != nil || j.must == 0):
			return err
		case err == nil:
			out.summary, facts.Summary, next.Summarized = text, text, next.Upto
		}
		facts.Gap = next.Summarized != next.Upto
		m.block(j, p, facts, &next, most)
	}
	m.store(p, j.last.Shortened)
	next.Rescued, next.Shortened = p.ids(), p.shorts()
	out.removed, _ = p.removed()
	out.kept = len(p.all) - p.cut + len(p.rescued)
	out.changed = p.cut > p.start || !slices.Equal(next.Shortened, j.last.Shortened)
	if !out.changed {
		next = j.last
	}
	out.next = next
	out.mark(p)
	return nil
}

// covered is where the part begins that no summary covers.
func (j *job) covered() int {
	covered := compaction.Compaction{Upto: j.last.Summarized}
	return covered.Start(j.all)
}

// block renders the durable block as large as there is room.
func (m *Middleware) block(j *job, p *plan, facts compaction.Facts, next *compaction.Compaction, most int) {
	facts.Delegations = threadstate.Delegations.Get(j.state)
	for _, e := range threadstate.SkillContext.Get(j.state) {
		if e.LoadedAt < p.cut {
			facts.Skills = append(facts.Skills, e)
		}
	}
	for limit := compaction.MaxSection; ; limit /= 2 {
		next.Block = facts.Block(limit)
		p.block = blockSize(next.Block)
		if p.block <= j.block && p.total() <= most || limit < 200 {
			return
		}
	}
}

// mark notes how large everything is after the attempt, so that the next one waits until it has grown.
func (o *outcome) mark(p *plan) {
	mt := &o.meter
	mt.At, mt.Reported, mt.Base = "", 0, 0 // to be counted anew, as it is sent then
	mt.Raw = mt.Fixed + p.total()
	o.next.Tokens, o.next.Messages = mt.total(0), p.count()
}

// update is the change of the state that keeps the outcome.
func (o *outcome) update() state.Update {
	u := compaction.Channel.Put(o.next).With(meterChannel.Put(o.meter))
	if o.summary != "" {
		u = u.With(threadstate.SummaryText.Put(o.summary))
	}
	return u
}
