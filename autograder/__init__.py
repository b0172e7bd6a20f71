"""The instructor's world: build, release, collect, grade, feedback, report, export."""
