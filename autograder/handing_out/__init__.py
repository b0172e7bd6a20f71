"""What leaves this folder for students: the course, and later its worked answers."""
