"""What every study shares: runs of the product, figures as JSON, tables and plots."""
