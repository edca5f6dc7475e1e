"""Where runs and files of cases live."""
