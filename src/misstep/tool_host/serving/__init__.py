"""The processes inside the sandbox: a supervisor, a zygote with the tools, and copies that call them."""
