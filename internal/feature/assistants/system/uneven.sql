SELECT id FROM assistants GROUP BY id HAVING sum(in_force) <> 1 OR max(version) <> count(*) ORDER BY id
