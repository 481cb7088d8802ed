"""Files: Arc conversations and results, Parquet, run directories."""
