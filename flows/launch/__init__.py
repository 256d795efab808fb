"""How flow runs start: one plan, several side by side, deployments."""
