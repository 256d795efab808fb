"""What an insider learns, and what even seats cost."""
