package wire

import (
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// Made reports whether the provider made the message, as far as it tells: signatures and encrypted reasoning are good
// for their maker only. A message that does not tell counts as the provider's own.
func (o *Origin) Made(m *message.Message) bool {
	by, told := rawjson.String(m.ResponseMetadata["model_provider"])
	return !told || by == o.Provider
}
