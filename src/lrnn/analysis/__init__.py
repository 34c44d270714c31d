"""Questions to data and to trained models: audits, bounds, widths, frontiers, decisions."""
