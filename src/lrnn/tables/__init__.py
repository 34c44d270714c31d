"""What a file or a folder is: one table of readers, one of writers, scaling."""
