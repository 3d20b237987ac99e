-- Its threads stay, in no folder.
DELETE FROM folders WHERE user_id = $1 AND id = $2
