"""Commands about plans and the machine they run on."""
