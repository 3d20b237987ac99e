-- The archives that no skill has any more.
DELETE FROM skill_parts WHERE user_id = $1 AND digest NOT IN (SELECT digest FROM skills WHERE user_id = $1)
