"""What a worker does, on this machine or another: it has the sandbox and the judge, and no file of the workspace."""
