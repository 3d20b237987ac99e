package app

import "testing"

func TestSharesOfDescriptors(t *testing.T) {
	for descriptors, want := range map[int]shares{
		1 << 30: {connections: (1<<30 - restDescriptors) / 4},
		524_288: {connections: 131_064},
		4096:    {runs: 169, connections: 1016},
		1024:    {runs: 41, boxes: 31, connections: 248},
		64:      {runs: 1, boxes: 1, connections: 8},
		0:       {runs: 1, boxes: 1, connections: 8},
	} {
		got := shareOf(descriptors)
		if got != want {
			t.Errorf("%d descriptors: %+v, want %+v", descriptors, got, want)
		}
		if used := restDescriptors + got.runs*runDescriptors + got.boxes*boxDescriptors + got.connections; got.runs > 0 && descriptors >= 64 && used > descriptors {
			t.Errorf("%d descriptors are divided into %d", descriptors, used)
		}
	}
}
