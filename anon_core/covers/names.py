"""The b-edge covers that settings may name; `covers.named` finds them."""

# Whether ranks that each see a part of the lists can find it, too.
SPREADABLE: dict[str, bool] = {"mce": True, "lse": False}
