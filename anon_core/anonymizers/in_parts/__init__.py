"""Tables made part by part: each part hides among itself, on any engine."""
