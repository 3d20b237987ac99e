package approval

import (
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/tool"
)

// keySecrets is the member of a question with what its answer is to bring.
const keySecrets = "secrets"

// Secret names a secret that the run which stops to ask can use. It ends with the question, and its secrets with it:
// who answers brings them again. No question has a value.
type Secret struct {
	Name string `json:"name"`
	// Optional says that the skill works without.
	Optional bool `json:"optional,omitempty"`
}

// Bring adds to each question of the error which secrets its answer is to bring, beside those that it has already. What
// is no object stays as it is.
func Bring(ask *tool.InterruptError, secrets []Secret) *tool.InterruptError {
	if len(secrets) == 0 {
		return ask
	}
	out := &tool.InterruptError{Questions: slices.Clone(ask.Questions)}
	for i, q := range out.Questions {
		members, ok := rawjson.Members(q.Value)
		if !ok {
			continue
		}
		var list []Secret
		_ = json.Unmarshal(members[keySecrets], &list) // absent, or another's: then it is replaced
		raw, err := json.Marshal(together(list, secrets))
		if err != nil { // texts can be encoded
			continue
		}
		members[keySecrets] = raw
		if raw, err = json.Marshal(members); err == nil {
			out.Questions[i].Value = raw
		}
	}
	return out
}

// together is one list of two: what one of them needs is not optional.
func together(a, b []Secret) (list []Secret) {
	for _, s := range slices.Concat(a, b) {
		at := slices.IndexFunc(list, func(known Secret) bool { return known.Name == s.Name })
		if at < 0 {
			list = append(list, s)
			continue
		}
		list[at].Optional = list[at].Optional && s.Optional
	}
	return list
}
