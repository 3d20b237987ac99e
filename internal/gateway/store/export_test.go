package store

// Bounds, for the tests.
const (
	MaxLabels  = maxLabels
	MaxLabel   = maxLabel
	MaxItemKey = maxItemKey
	MaxValue   = maxValue
)
