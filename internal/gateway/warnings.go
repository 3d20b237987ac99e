package gateway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/runs"
)

const (
	maxWarnings = 10  // of one run's options
	maxGuessed  = 100 // names of an object that are looked at for near misses
)

// nearMisses tells of the members of an object, which may have any, that are nearly an option: one letter of five is wrong,
// or the case.
func (in *input) nearMisses(place string, options []string) (list []string) {
	names := slices.Sorted(maps.Keys(in.members))
	for _, name := range names[:min(len(names), maxGuessed)] {
		if slices.Contains(options, name) {
			continue
		}
		if option := config.Near(name, options, len(name)/5); option != "" {
			list = append(list, fmt.Sprintf("%s.%s is no option and has no effect; did you mean %q?", place, clip(name), option))
		}
	}
	return list
}

// warn puts what of the options has no effect into the run's metadata.
func (s *Server) warn(o *order, in *input) error {
	config := in.object("config")
	objects := []struct {
		place string
		in    *input
	}{
		{"context", in.object("context")}, {"config.context", config.object("context")}, {"config.configurable", config.object("configurable")},
	}
	var list []string
	for _, at := range objects {
		if len(at.in.members) > 0 {
			list = append(list, at.in.nearMisses(at.place, slices.Collect(maps.Keys(s.settings().Properties)))...)
		}
	}
	for _, warning := range list[:min(len(list), maxWarnings)] {
		var err error
		if o.Metadata, err = runs.Warned(o.Metadata, warning); err != nil {
			return fmt.Errorf("warn of options: %w", err)
		}
	}
	return nil
}
