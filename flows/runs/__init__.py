"""What one run of a plan needs: parameters, the plan as its vault knows it, approval, its end."""
