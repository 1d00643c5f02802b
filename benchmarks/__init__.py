"""How fast Weft is, as ratios within one run: against plain code, other engines and the interpreter itself."""
