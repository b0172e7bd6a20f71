"""From what students handed in to one folder a student. Reads strangers' files."""
