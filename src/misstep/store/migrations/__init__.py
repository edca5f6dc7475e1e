"""How stores of every earlier version become stores of this one."""
