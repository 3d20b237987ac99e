package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// besiege executes runs whose workers die right before and right after each write that an undisturbed run does, until
// they have died once at every place of as many of the shares as there are lanes.
func (c *campaign) besiege(ctx context.Context, parts int) error {
	return c.abreast(func(lane int) error {
		part := (int(c.seed%uint64(parts)) + lane) % parts
		return c.share(ctx, dying{File: filepath.Join(c.order.Dir, fmt.Sprint("places-", lane)), Part: part,
			Parts: parts})
	})
}

// ended executes runs that end in a way, and kills them at every write of as many of the shares as there are lanes.
func (c *campaign) ended(ctx context.Context, w way, parts int) (*campaign, error) {
	o := c.orderIn(string(w))
	o.Way = w
	one, err := newCampaign(ctx, o, c.seed)
	if err != nil {
		return nil, err
	}
	return one, one.besiege(ctx, parts)
}

func (c *campaign) share(ctx context.Context, d dying) error {
	left := places(c.want.items, d)
	for n := 0; len(left) > 0; n++ {
		o := c.orderIn(fmt.Sprintf("boundary-%d-%d", d.Part, n))
		o.Die = d
		if err := c.finish(ctx, newSite(o), func() kill { return never }); err != nil {
			return err
		}
		done, err := readPlaces(d.File)
		if err != nil {
			return err
		}
		before := len(left)
		left = slices.DeleteFunc(left, func(p string) bool { return done[p] })
		if len(left) == before {
			return fmt.Errorf("no worker comes to the write boundaries %q", left)
		}
	}
	return nil
}

// places are the write boundaries of an undisturbed run that are in the share.
func places(items map[string]bool, d dying) (list []string) {
	for item := range items {
		for _, when := range []string{"before ", "after "} {
			if d.picks(when + item) {
				list = append(list, when+item)
			}
		}
	}
	slices.Sort(list)
	return list
}
