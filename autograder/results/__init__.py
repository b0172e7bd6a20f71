"""From verdicts to what people read: feedback, marks, report."""
