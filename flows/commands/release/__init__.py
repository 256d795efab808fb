"""Commands that make releases or take them back."""
