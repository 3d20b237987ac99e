-- Of the grants that were revoked the last $2 stay.
DELETE FROM grants WHERE user_id = $1 AND revoked_at <> 0 AND id NOT IN (
    SELECT g.id FROM grants g WHERE g.user_id = $1 AND g.revoked_at <> 0 ORDER BY g.revoked_at DESC, g.id DESC LIMIT $2)
