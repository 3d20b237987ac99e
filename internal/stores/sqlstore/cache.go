package sqlstore

import (
	"container/list"
	"sync"

	"github.com/pudu-ai/pudu/state"
)

// Bounds of the cache of states. The bytes are those of a state's stored form: decoded, it takes up to three times as
// many.
const (
	cacheStates = 64
	cacheBytes  = 128 << 20
)

// cache keeps the states that were written or loaded last. A checkpoint never changes, so nothing in it grows stale;
// whether a checkpoint is still there is for the database to say.
type cache struct {
	maxStates int
	maxBytes  int64 // a state of more than a quarter of it is not kept

	mu    sync.Mutex
	bytes int64
	byID  map[string]*list.Element // of *cached, by checkpoint id
	order *list.List               // the last used first
}

// cached is a state of the cache.
type cached struct {
	thread, id string
	state      state.State
	bytes      int64
}

func newCache(maxStates int, maxBytes int64) *cache {
	return &cache{maxStates: maxStates, maxBytes: maxBytes, byID: make(map[string]*list.Element), order: list.New()}
}

// get returns the state of a checkpoint as schema would load it; false if it must be loaded.
func (c *cache) get(schema state.Schema, id string) (state.State, bool) {
	c.mu.Lock()
	el := c.byID[id]
	if el == nil {
		c.mu.Unlock()
		return state.State{}, false
	}
	c.order.MoveToFront(el)
	held := el.Value.(*cached).state
	c.mu.Unlock()
	return held.ReadBy(schema)
}

// put keeps a state in the place of what it has of the checkpoint, and drops those used least until the rest fits.
func (c *cache) put(e *cached) {
	if e.bytes > c.maxBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byID[e.id])
	c.byID[e.id] = c.order.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.maxBytes || c.order.Len() > c.maxStates {
		c.drop(c.order.Back())
	}
}

// forget drops the checkpoint's state.
func (c *cache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byID[id])
}

// forgetThread drops the thread's states.
func (c *cache) forgetThread(thread string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := c.order.Front(); el != nil; {
		next := el.Next()
		if el.Value.(*cached).thread == thread {
			c.drop(el)
		}
		el = next
	}
}

// drop removes what el points to; nil is nothing. The caller holds mu.
func (c *cache) drop(el *list.Element) {
	if el == nil {
		return
	}
	e := c.order.Remove(el).(*cached)
	delete(c.byID, e.id)
	c.bytes -= e.bytes
}
