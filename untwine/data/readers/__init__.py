"""One file a format: from files to arrays and samples."""
