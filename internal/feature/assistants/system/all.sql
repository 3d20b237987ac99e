SELECT id, config, context, metadata FROM assistants ORDER BY id, version
