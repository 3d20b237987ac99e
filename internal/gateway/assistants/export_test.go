package assistants

// ChannelSchemas is for the tests.
var ChannelSchemas = channelSchemas
