"""The strategies that come with MLaut, and the search for strategies by words."""
