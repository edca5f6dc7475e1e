"""What is inside the sandbox: a warden, a zygote that holds the tools, and copies of it that call them."""
