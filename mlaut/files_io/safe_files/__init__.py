"""Files that no kill, full disk or hostile content can spoil."""
