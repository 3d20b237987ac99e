package runs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
)

const (
	maxWarnings = 10  // of one run's options
	maxGuessed  = 100 // names of an object that are looked at for near misses
)

// nearMisses tells of the members of an object, which may have any, that are nearly an option: one letter of five is
// wrong, or the case.
func nearMisses(in *route.Input, place string, options []string) (list []string) {
	names := slices.Sorted(maps.Keys(in.Members))
	for _, name := range names[:min(len(names), maxGuessed)] {
		if slices.Contains(options, name) {
			continue
		}
		if option := config.Near(name, options, len(name)/5); option != "" {
			list = append(list, fmt.Sprintf("%s.%s is no option and has no effect; did you mean %q?", place,
				route.Clip(name), option))
		}
	}
	return list
}

// warn puts what of the options has no effect into the run's metadata.
func warn(o *order, in *route.Input) error {
	config := in.Object("config")
	objects := []struct {
		place string
		in    *route.Input
	}{
		{"context", in.Object("context")}, {"config.context", config.Object("context")},
		{"config.configurable", config.Object("configurable")},
	}
	var list []string
	for _, at := range objects {
		if len(at.in.Members) > 0 {
			list = append(list, nearMisses(at.in, at.place, shape.OptionNames())...)
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
