"""What students hand in: taken from files, folders and LMSs, kept as attempts, one of them laid out for grading.

`collect` takes each hand-in through the stages, a value made of the one before: `finding` (by student, `belongings`) →
`handin` → `recognising` → `attempts` → `laying_out`.
"""
