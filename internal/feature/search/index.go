package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// batch is how many documents are written in one transaction: others wait while it is written.
const batch = 100

// Config is what an [Indexer] needs.
type Config struct {
	Store database.Store
	// Content reads what a thread has; [store.ErrNotFound] if it is gone.
	Content func(ctx context.Context, u access.User, thread string) (Content, error)
}

// Indexer keeps the index.
type Indexer struct {
	Config

	db database.DB
}

// NewIndexer makes an indexer.
func NewIndexer(c Config) *Indexer { return &Indexer{c, c.Store.Feature(Feature().Name)} }

// change is what has to be done for the index to have a thread as it is.
type change struct {
	drop []int64
	add  []document
}

// Index brings the index to what a thread has now. It can be cut off anywhere: the next time does the rest.
func (x *Indexer) Index(ctx context.Context, u access.User, thread string) error {
	err := x.index(ctx, u, thread)
	if errors.Is(err, store.ErrNotFound) {
		return nil // what was there of it went with it
	}
	if err != nil {
		return fmt.Errorf("index thread %q: %w", thread, err)
	}
	return nil
}

func (x *Indexer) index(ctx context.Context, u access.User, thread string) error {
	content, err := x.Content(ctx, u, thread)
	if err != nil {
		return err
	}
	if content.Thread.Root != "" {
		return nil
	}
	runs, err := x.Store.For(u).ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: 1000})
	if err != nil {
		return err
	}
	mine := x.db.For(u)
	c, err := compare(ctx, mine, thread, content.documents(runs))
	if err != nil {
		return err
	}
	for len(c.drop)+len(c.add) > batch {
		var now change
		now.drop, c.drop = c.drop[:min(batch, len(c.drop))], c.drop[min(batch, len(c.drop)):]
		if n := batch - len(now.drop); len(c.drop) == 0 {
			now.add, c.add = c.add[:min(n, len(c.add))], c.add[min(n, len(c.add)):]
		}
		if err := mine.Write(ctx, 0, func(tx database.Tx) error { return now.write(tx, u, thread) }); err != nil {
			return err
		}
	}
	return mine.Write(ctx, 0, func(tx database.Tx) error {
		err := c.write(tx, u, thread)
		if err == nil {
			_, err = tx.Exec("done", thread, content.Thread.Head, content.Thread.Title)
		}
		return err
	})
}

// compare finds what differs from the index.
func compare(ctx context.Context, mine database.Bound, thread string, docs []document) (c change, err error) {
	want := make(map[docKey]string, len(docs))
	for _, d := range docs {
		want[d.docKey] = d.digest()
	}
	same := make(map[docKey]bool)
	err = mine.Read(ctx, "indexed", func(r database.Row) (bool, error) {
		var seq int64
		var k docKey
		var digest string
		err := r.Scan(&seq, &k.form, &k.ref, &k.part, &digest)
		if want[k] == digest {
			same[k] = true
		} else {
			c.drop = append(c.drop, seq)
		}
		return true, err
	}, thread)
	for _, d := range docs {
		if !same[d.docKey] {
			same[d.docKey] = true // of two messages with one id the first counts
			c.add = append(c.add, d)
		}
	}
	return c, err
}

func (c change) write(tx database.Tx, u access.User, thread string) error {
	for _, seq := range c.drop {
		if _, err := tx.Exec("drop", thread, seq); err != nil {
			return err
		}
	}
	shard := shardOf(u)
	for _, d := range c.add {
		n, err := tx.Exec("add", thread, d.form, d.ref, d.part, d.role, database.Micros(d.at), d.digest(), d.text)
		if err == nil && n > 0 {
			_, err = tx.Exec("terms", thread, d.form, d.ref, d.part, termsOf(d, shard))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
