// Package wire is what the model providers share below their vendor's vocabulary: an HTTP client that gives up on
// silence, a reader of server-sent events, the way of an answer from its first byte to its end ([Client.Ask], to which
// a provider brings its [Decoder]), the translation of HTTP failures into [model.Error], and an appending JSON writer
// that keeps the bytes of what a model wrote.
//
// It stands between the model contract and the providers (internal/models/...). It knows HTTP and JSON, and no
// conversation. Nothing here tries again: one place of the agent does, by the class of the error; a second loop of
// retries below it would multiply with the first.
package wire
