UPDATE model_state SET standard = '' WHERE id = 'models' AND standard = $1
