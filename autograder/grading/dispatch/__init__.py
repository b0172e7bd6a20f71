"""The process that gives out a run's work: it reads hand-ins, takes what is stored, and feeds the workers."""
