SELECT user_id, id FROM folders
