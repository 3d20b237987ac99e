package llmerror

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/model"
)

// advice says per class what happened and what the user can do. {model} and {provider} are filled in.
var advice = map[model.Class]string{
	model.ClassAuth: "The provider {provider} did not accept the credentials for the model {model}. " +
		"Check the API key of {provider} in the configuration, and that it may use this model.",
	model.ClassQuota: "The account at {provider} has no credit or quota left for the model {model}. " +
		"Top it up there, or choose another model.",
	model.ClassRateLimit: "The provider {provider} limits how often the model {model} may be called. " +
		"Wait a moment and continue, or choose another model.",
	model.ClassBurst: "The provider {provider} refused the model {model} because requests rose too quickly. " +
		"Wait a minute, run fewer tasks side by side, and continue.",
	model.ClassBusy: "The provider {provider} is overloaded and did not serve the model {model}. " +
		"Wait a moment and continue, or choose another model.",
	model.ClassTransient: "The model {model} could not be reached or broke off its answer. " +
		"Wait a moment and continue; if it goes on, check the network and the status of {provider}.",
	model.ClassContextLength: "The conversation is longer than the model {model} can read. " +
		"Compact it, go on in a new thread, or choose a model with a larger context window.",
	model.ClassNotFound: "The provider {provider} does not know the model {model}. " +
		"Check the model name and the base URL in the configuration.",
	model.ClassTooLarge: "The answer of the model {model} was larger than Pudu takes, and was stopped. " +
		"Ask for less at a time, or choose another model.",
	model.ClassBadRequest: "The provider {provider} did not accept the request for the model {model}. " +
		"Check the settings of the model in the configuration.",
}

// mostQuoted bounds the provider's words in the answer, in bytes; error_detail has all of them.
const mostQuoted = 300

// failureText is what the user reads. name is the model's, used where the error does not say which it was.
func failureText(name string, e *model.Error, tries int) string {
	if e.Class == ReasonCircuitOpen {
		return e.Message
	}
	provider, _, _ := strings.Cut(name, "/")
	if e.Model != "" {
		name = strings.TrimPrefix(e.Provider+"/"+e.Model, "/")
	}
	text := advice[e.Class]
	if text == "" {
		text = "The call of the model {model} failed."
	}
	text = strings.NewReplacer("{model}", name, "{provider}", cmp.Or(e.Provider, provider)).Replace(text)
	if e.RetryAfter > longestWait {
		text += fmt.Sprintf(" The provider asks to wait %s before the next call.", e.RetryAfter.Round(time.Second))
	}
	if tries > 1 {
		text += fmt.Sprintf(" It was tried %d times.", tries)
	}
	return text + quoted(e)
}

// quoted is the provider's answer in its own words.
func quoted(e *model.Error) string {
	said := excerpt.Bound(strings.Join(strings.Fields(e.Message), " "), mostQuoted)
	switch {
	case said != "" && e.Status != 0:
		return fmt.Sprintf(" The answer was HTTP %d: %s", e.Status, said)
	case said != "":
		return " Details: " + said
	case e.Status != 0:
		return fmt.Sprintf(" The answer was HTTP %d.", e.Status)
	}
	return ""
}

// trouble says in a few words what is the matter with a model, behind its name.
var trouble = map[model.Class]string{
	model.ClassAuth:          "refuses the API key",
	model.ClassQuota:         "has no credit or quota left",
	model.ClassRateLimit:     "limits the rate of requests",
	model.ClassBurst:         "refuses a sudden rise of requests",
	model.ClassBusy:          "is overloaded",
	model.ClassTransient:     "does not answer",
	model.ClassContextLength: "cannot take a conversation of this length",
	model.ClassNotFound:      "is not known to its provider",
	model.ClassTooLarge:      "gives an answer that is too large",
	model.ClassBadRequest:    "does not accept the request",
	ReasonCircuitOpen:        "has failed too often",
}

func troubleOf(name string, c model.Class) string {
	return name + " " + cmp.Or(trouble[c], "has failed")
}

// otherText says what became of a model that was asked in the place of another.
func otherText(name string, e *model.Error) string {
	text := "Asked in its place, " + troubleOf(name, e.Class) + "."
	if e.Class == ReasonCircuitOpen {
		return text
	}
	return text + quoted(e)
}

func circuitText(name string, wait time.Duration) string {
	when := "while one call checks whether it is back"
	if wait > 0 {
		when = fmt.Sprintf("for another %d s", int(wait.Seconds()+0.999))
	}
	return fmt.Sprintf("The last calls of the model %s all failed, so no more are made %s. "+
		"Continue after that, or choose another model.", name, when)
}

// retryText is the line that clients show while the call waits for its next try.
func retryText(c model.Class, try, most int, wait time.Duration) string {
	what := "provider request failed temporarily"
	switch c {
	case model.ClassBusy:
		what = "provider is busy"
	case model.ClassRateLimit:
		what = "provider limits the rate of requests"
	case model.ClassBurst:
		what = "provider refused a sudden rise of requests"
	}
	return fmt.Sprintf("LLM request retry %d/%d: %s. Retrying in %ds.", try, most, what, int(wait.Seconds()+0.5))
}
