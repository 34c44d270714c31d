"""The estimators: they validate, choose and delegate."""
