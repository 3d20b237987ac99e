package app

import "testing"

func TestSharesOfDescriptors(t *testing.T) {
	for descriptors, want := range map[int]shares{
		1 << 30: {connections: 1<<30 - restDescriptors - 64*boxDescriptors - 2000*runDescriptors},
		20_000:  {runs: 1578, connections: 9476},
		4096:    {runs: 253, connections: 1522},
		1024:    {runs: 41, boxes: 31, connections: 250},
		64:      {runs: 1, boxes: 1, connections: 10},
		0:       {runs: 1, boxes: 1, connections: 8},
	} {
		got := shareOf(descriptors)
		if got != want {
			t.Errorf("%d descriptors: %+v, want %+v", descriptors, got, want)
		}
		if used := restDescriptors + got.runs*runDescriptors + got.boxes*boxDescriptors +
			got.connections; got.runs > 0 && descriptors >= 64 && used > descriptors {
			t.Errorf("%d descriptors are divided into %d", descriptors, used)
		}
	}
}
