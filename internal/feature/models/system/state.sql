SELECT version, standard FROM model_state WHERE id = 'models'
