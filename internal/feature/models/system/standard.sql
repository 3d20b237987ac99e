UPDATE model_state SET standard = $1 WHERE id = 'models'
