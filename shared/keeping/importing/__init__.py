"""Taking in what was exported here or kept elsewhere: pages are read at the request (`receiving`), applied by maintenance (`applying`)."""
