-- Keeps others from changing the assistant until the transaction ends: the first version is always there.
UPDATE assistants SET in_force = in_force WHERE user_id = $1 AND id = $2 AND version = 1
