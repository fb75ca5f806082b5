"""Run cells in this process, or in local workers; plug-ins add other engines."""
