package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// limitFlag adds --limit, which says how many are listed: 1 to most.
func limitFlag(flags *pflag.FlagSet, limit *int, usual, most int) {
	*limit = usual
	flags.Var(&limitValue{limit, most}, "limit", fmt.Sprintf("how many, 1 to %d", most))
}

// limitValue is a [pflag.Value] that takes no number below 1 or above most.
type limitValue struct {
	limit *int
	most  int
}

func (v *limitValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > v.most {
		return fmt.Errorf("it takes 1 to %d", v.most)
	}
	*v.limit = n
	return nil
}

func (v *limitValue) String() string {
	if v.limit == nil { // pflag asks a zero value what it is
		return "0"
	}
	return strconv.Itoa(*v.limit)
}

// Type is what the help calls the value.
func (v *limitValue) Type() string { return "int" }
